// Long: the embedded API is started once for all of it. The real kubectl against the embedded API: what a person types.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { eventually } from '../../servers/eventually.ts'
import { kubectlPath } from '../../servers/real-kubernetes.ts'
import { embedded } from './embedded.ts'

t.setTimeout(120_000)
const root = join(import.meta.dirname, '..', '..', '..')
const { folder, kubeconfig } = await embedded(t)
// kubectl keeps what it discovered under HOME; sed is the editor of `edit`.
const env = {
  PATH: process.env['PATH'],
  HOME: folder,
  TMPDIR: folder,
  KUBECONFIG: kubeconfig,
  EDITOR: 'sed -i s/lifecycleEnabled:.*/lifecycleEnabled:\\ true/'
}

const kubectl = (args: readonly string[]) => spawn(kubectlPath(), args, { env, cwd: root })

async function run(args: readonly string[], input = ''): Promise<{ code: number; out: string }> {
  const child = kubectl(args)
  child.stdin.end(input)
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number]>,
    text(child.stdout),
    text(child.stderr)
  ])
  return { code, out: stdout + stderr }
}

const hypervisor = (name: string, spec: string): string => `
apiVersion: kvm.cloud.sap/v1
kind: Hypervisor
metadata: { name: ${name}, labels: { zone: a } }
spec: ${spec}`
const node = (name: string, taint: string): string => `
apiVersion: v1
kind: Node
metadata: { name: ${name}, labels: { topology.kubernetes.io/zone: a } }
spec: { taints: [{ key: ${taint}, effect: NoSchedule }] }`
const configMap = (value: string): string => `
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: default }
data: { key: "${value}" }`
const ready =
  '{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Ready","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}'

const rbac = `
{ apiVersion: v1, kind: Namespace, metadata: { name: team } }
---
{ apiVersion: v1, kind: ServiceAccount, metadata: { name: watcher, namespace: team } }
---
{ apiVersion: v1, kind: Secret, metadata: { name: s, namespace: team }, stringData: { a: b } }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: watcher }
rules: [{ apiGroups: [kvm.cloud.sap], resources: [hypervisors], verbs: [get, list] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: watcher }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: watcher }
subjects: [{ kind: ServiceAccount, name: watcher, namespace: team }]`
const access = (verb: string): string => `
apiVersion: authorization.k8s.io/v1
kind: SubjectAccessReview
spec:
  user: system:serviceaccount:team:watcher
  resourceAttributes: { group: kvm.cloud.sap, resource: hypervisors, verb: ${verb} }`
const whoami = '{ apiVersion: authentication.k8s.io/v1, kind: SelfSubjectReview }'

/** Each follows on the ones before. */
type Step = [args: string, said: RegExp, options?: { code?: number; input?: string }]
const f = { input: '' }
const file = (input: string): typeof f => ({ input })
const refused = (input = '') => ({ code: 1, input })

const steps: Record<string, Step[]> = {
  'it finds its way': [
    ['version', /Server Version: v1\.36\./],
    ['apply -k crds', /customresourcedefinition\S* created/],
    ['wait --for=condition=Established crd --all', /hypervisors\.kvm\.cloud\.sap condition met/],
    ['apply -k crds', /hypervisors\.kvm\.cloud\.sap unchanged/],
    ['apply --server-side --force-conflicts -k crds', /serverside-applied/],
    ['api-resources', /hypervisors +hv? .*kvm\.cloud\.sap\/v1 +false +Hypervisor|hypervisors .*Hypervisor/],
    ['explain hypervisor.spec.maintenance', /FIELD: maintenance <\w+>/],
    ['explain node.metadata.labels', /labels/],
    ['cluster-info', /is running at/]
  ],
  'apply, three ways': [
    ['apply -f -', /hypervisor.* created/, file(hypervisor('hv1', '{ lifecycleEnabled: false }'))],
    ['apply -f -', /unchanged/, file(hypervisor('hv1', '{ lifecycleEnabled: false }'))],
    ['apply -f -', /configured/, file(hypervisor('hv1', '{ lifecycleEnabled: false, skipTests: true }'))],
    ['get hv1.hypervisors', /the server doesn't have a resource type/, refused()],
    ['get hypervisor hv1 -o jsonpath={.spec.skipTests}{.metadata.generation}', /^true2$/],
    ['apply -f -', /unknown field "spec\.nope"/, refused(hypervisor('hv1', '{ nope: 1 }'))],
    [
      'apply --validate=warn -f -',
      /Warning: unknown field "spec\.nope"/,
      file(hypervisor('hv1', '{ lifecycleEnabled: false, nope: 1 }'))
    ],
    ['apply -f -', /spec\.maintenance: Unsupported value: "later"/, refused(hypervisor('hv1', '{ maintenance: later }'))],
    ['apply -f -', /created/, file(node('n1', 'a'))],
    ['apply -f -', /configured/, file(node('n1', 'b'))],
    ['get node n1 -o jsonpath={.spec.taints[*].key}', /^b$/],
    ['apply --server-side --field-manager=one -f -', /serverside-applied/, file(configMap('1'))],
    ['apply --server-side --field-manager=two -f -', /conflict with "one": \.data\.key/, refused(configMap('2'))],
    ['apply --server-side --field-manager=two --force-conflicts -f -', /serverside-applied/, file(configMap('2'))],
    ['diff -f -', /-  key: "2"\n\+  key: "3"/, refused(configMap('3'))],
    ['apply --dry-run=server -f -', /configured \(server dry run\)/, file(configMap('4'))],
    ['apply -f -', /error parsing STDIN: error converting YAML to JSON/, refused('a: [b')]
  ],
  'get and describe': [
    ['get hypervisors', /^NAME +READY +STATE .*AGE\s*\nhv1 /m],
    ['get hypervisors -o wide', /^NAME/],
    ['get hypervisor hv1 -o yaml', /kind: Hypervisor/],
    ['get hypervisors -l zone=b', /No resources found/],
    ['get hypervisors,nodes -l topology.kubernetes.io/zone', /n1 /],
    ['get nodes --field-selector metadata.name=n1 -o name', /^node\/n1$/m],
    ['get nodes', /^NAME +STATUS +ROLES +AGE +VERSION\s*\nn1 +Unknown/m],
    ['get nothing', /the server doesn't have a resource type "nothing"/, refused()],
    ['get hypervisor none', /Error from server \(NotFound\): hypervisors\.kvm\.cloud\.sap "none" not found/, refused()],
    ['describe hypervisor hv1', /Kind: +Hypervisor[\s\S]*Lifecycle Enabled: +false/],
    ['describe node n1', /Taints: +b:NoSchedule/],
    ['get all -A', /service|deployment|No resources found/],
    ['get events -A', /No resources found/]
  ],
  'patch, label, edit': [
    ['patch hypervisor hv1 --type=merge -p {"spec":{"skipTests":false}}', /patched/],
    ['patch hypervisor hv1 --type=json -p [{"op":"replace","path":"/spec/skipTests","value":true}]', /patched/],
    ['patch hypervisor hv1 --type=merge -p {"spec":{"skipTests":true}}', /patched \(no change\)/],
    [
      'patch hypervisor hv1 -p {"spec":{}}',
      /application\/strategic-merge-patch\+json is not supported|UnsupportedMediaType|unknown format/,
      refused()
    ],
    ['patch node n1 -p {"spec":{"unschedulable":true}}', /patched/],
    ['cordon n1', /already cordoned/],
    ['uncordon n1', /uncordoned/],
    ['taint node n1 c=d:NoExecute', /tainted/],
    ['label hypervisor hv1 zone=b --overwrite', /labeled/],
    ['annotate hypervisor hv1 note=this', /annotated/],
    ['edit hypervisor hv1', /edited/],
    ['get hypervisor hv1 -o jsonpath={.spec.lifecycleEnabled}{.metadata.labels.zone}{.metadata.annotations.note}', /^truebthis$/],
    [`patch hypervisor hv1 --subresource=status --type=merge -p ${ready}`, /patched/],
    ['wait --for=condition=Ready hypervisor/hv1 --timeout=30s', /condition met/],
    ['wait --for=jsonpath={.spec.skipTests}=true hypervisor/hv1 --timeout=30s', /condition met/]
  ],
  // What kubectl makes by itself it sends as protobuf, which is not read here; as documents they are taken.
  'who may what': [
    ['create namespace team', /unknown format - accepted media types include: application\/json/, refused()],
    ['auth whoami', /unknown format - accepted media types include: application\/json/, refused()],
    ['create -f -', /namespace\/team created/, file(rbac)],
    ['create -f - -o jsonpath={.status.allowed}', /^true$/, file(access('list'))],
    ['create -f - -o jsonpath={.status.allowed}', /^false$/, file(access('delete'))],
    ['create -f - -o jsonpath={.status.userInfo.username}', /^admin$/, file(whoami)],
    ['get secret s -n team -o jsonpath={.data.a}', /^Yg==$/],
    ['get serviceaccounts,secrets -n team', /watcher/]
  ],
  'the whole of knative/': [
    ['apply -f -', /created/, file('KNATIVE')],
    ['apply -k knative/namespaces', /monsoon3 created/],
    ['apply -k knative', /serviceaccount\/hypervisor created/],
    ['apply -k knative', /serviceaccount\/hypervisor unchanged/],
    ['get triggers -n drover', /hypervisor-node-changed/],
    ['delete -k knative --ignore-not-found --wait=false', /namespace "drover" deleted/]
  ],
  delete: [
    ['delete configmap settings --dry-run=server', /deleted .*\(server dry run\)/],
    ['delete configmap settings', /"settings" deleted/],
    ['patch node n1 --type=merge -p {"metadata":{"finalizers":["drover.dev/hold"]}}', /patched/],
    ['delete node n1 --wait=false', /deleted/],
    ['get node n1 -o jsonpath={.metadata.deletionTimestamp}', /^20\d\d-/],
    ['patch node n1 --type=merge -p {"metadata":{"finalizers":null}}', /patched/],
    ['wait --for=delete node/n1 --timeout=30s', /^/],
    ['delete namespace team --timeout=30s', /"team" deleted/],
    ['delete hypervisors --all --cascade=foreground', /"hv1" deleted/],
    ['get hypervisors', /No resources found/]
  ]
}

/** Kinds that are not ours, as far as kubectl must know them: their names. */
const knativeKinds: Array<[group: string, version: string, kind: string]> = [
  ['eventing.knative.dev', 'v1', 'Broker'],
  ['eventing.knative.dev', 'v1', 'Trigger'],
  ['sources.knative.dev', 'v1', 'PingSource'],
  ['sources.knative.dev', 'v1', 'SinkBinding'],
  ['serving.knative.dev', 'v1', 'Service']
]
const crdOf = ([group, version, kind]: (typeof knativeKinds)[number]): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, plural: `${kind.toLowerCase()}s` },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
      }
    ]
  }
})
const knative = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: knativeKinds.map(crdOf) })

for (const [name, list] of Object.entries(steps)) {
  await t.test(name, async t => {
    for (const [args, said, { code = 0, input = '' } = {}] of list) {
      const { code: ended, out } = await run(args.split(' '), input === 'KNATIVE' ? knative : input)
      t.equal(ended, code, `kubectl ${args}: exit code\n${ended === code ? '' : out}`)
      t.match(out, said, `kubectl ${args}`)
    }
  })
}

await t.test('get --watch tells of every change until it is stopped', async t => {
  const watching = kubectl(['get', 'hypervisors', '--watch', '--output-watch-events'])
  let seen = ''
  watching.stdout.setEncoding('utf8').on('data', (chunk: string) => (seen += chunk))
  t.teardown(() => watching.kill())
  await run(['apply', '-f', '-'], hypervisor('hv2', '{ lifecycleEnabled: false }'))
  await eventually('ADDED', async () => /ADDED +hv2/.test(seen))
  await run(['label', 'hypervisor', 'hv2', 'a=b'])
  await eventually('MODIFIED', async () => /MODIFIED +hv2/.test(seen))
  await run(['delete', 'hypervisor', 'hv2'])
  await eventually('DELETED', async () => /DELETED +hv2/.test(seen))
})

await t.test('an edit that is refused is shown to the editor again', async t => {
  const script = join(folder, 'editor.sh')
  await writeFile(script, '#!/bin/sh\ncp "$1" "$HOME/last"; sed -i s/maintenance:.*/maintenance:\\ nonsense/ "$1"\n', {
    mode: 0o755
  })
  await run(['apply', '-f', '-'], hypervisor('hv3', '{ maintenance: manual, maintenanceReason: fans }'))
  const child = spawn(kubectlPath(), ['edit', 'hypervisor', 'hv3'], { env: { ...env, EDITOR: script }, cwd: root })
  child.stdin.end()
  const [said] = await Promise.all([text(child.stderr), once(child, 'close')])
  t.match(said, /"hv3" is invalid/)
  t.match(
    await readFile(join(folder, 'last'), 'utf8'),
    /# hypervisors.* "hv3" was not valid:\n# .*spec\.maintenance: .*"nonsense"/
  )
})
