// `drover validate` as a pipeline calls it: a process, files, an exit code.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { matchWhole } from '../assert/match-whole.ts'
import { drover as run } from './terminal.ts'

t.setTimeout(600_000)
const drover = (args: string[], input?: string) => run(args, {}, input)

const machine = (name: string, spec: string) =>
  `apiVersion: vitistack.io/v1alpha1\nkind: Machine\nmetadata: { name: ${name}, namespace: shop }\nspec: ${spec}\n`
const network =
  'apiVersion: vitistack.io/v1alpha1\nkind: NetworkConfiguration\nmetadata: { name: prod, namespace: shop }\nspec: { bridge: br0 }\n'

const folder = t.testdir({
  'good.yaml': `# two of ours and one of another's\n${machine('web', '{ template: small, networks: [{ name: a, networkName: prod }] }')}---\n${network}---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: c }\n`,
  'bad.yaml': `${machine('a', '{ template: huge }')}---\n${machine('b', '{ template: small, bootOrder: [cdrom], colour: red }')}`,
  'broken.yaml': 'a: [1\nb: 2\n',
  empty: {}
})
const at = (name: string) => join(folder, name)

t.test('what is fine gives 0', async t => {
  t.strictSame(await drover(['validate', '-f', at('good.yaml')]), {
    code: 0,
    out: '2 checked, 0 refused, 1 of other kinds left out\n',
    err: ''
  })
})

t.test('what the webhook would refuse gives 1, with its words, file and line', async t => {
  const { code, out } = await drover(['validate', '-f', at('bad.yaml'), at('good.yaml')])
  t.equal(code, 1)
  t.match(
    out,
    `${at('bad.yaml')}:1: Machine shop/a\n  refused: spec.template: there is no template huge: choose small, medium, large (A1)\n`
  )
  t.match(
    out,
    new RegExp(
      `bad.yaml:6: Machine shop/b\\n  refused: spec.bootOrder\\[0\\]: .* \\(A7\\)\\n  refused: spec.colour: unknown field \\(schema\\)\\n`
    )
  )
  t.match(out, /4 checked, 2 refused/)
})

t.test('as JSON, from standard input', async t => {
  const { code, out } = await drover(['validate', '--output', 'json', '-f', '-'], machine('a', '{ template: huge }'))
  t.equal(code, 1)
  matchWhole(t, JSON.parse(out), {
    ok: false,
    skipped: 0,
    checked: [
      { file: 'stdin', line: 1, kind: 'Machine', name: 'a', namespace: 'shop', violations: [{ id: 'A1', path: 'spec.template' }] }
    ]
  })
  t.equal((await drover(['validate'], network)).code, 0, 'without a name it is standard input too')
})

t.test('Lists, folders, JSON', async t => {
  const list = {
    apiVersion: 'v1',
    kind: 'List',
    items: [{ apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', metadata: { name: 'h' }, spec: { maintenance: 'manual' } }]
  }
  mkdirSync(at('many'))
  writeFileSync(join(at('many'), 'list.json'), JSON.stringify(list))
  writeFileSync(join(at('many'), 'note.txt'), 'not read')
  const { code, out } = await drover(['validate', at('many')])
  t.equal(code, 1)
  t.match(out, /list.json:1: Hypervisor h\n {2}refused: spec.maintenanceReason: must say why maintenance is manual \(R2\)/)
})

t.test('HV-11 warns, and refuses where it is enforced', async t => {
  const twice =
    'apiVersion: kvm.cloud.sap/v1\nkind: Hypervisor\nmetadata: { name: h }\nspec: { groups: [{ trait: { name: A } }, { trait: { name: A } }] }\n'
  t.match(await drover(['validate'], twice), { code: 0, out: /warning: .*\(HV-11\)/ })
  t.match(await drover(['validate', '--enforce'], twice), { code: 1, out: /refused: .*\(HV-11\)/ })
})

t.test('a kind of ours that does not exist', async t => {
  t.match(await drover(['validate'], 'apiVersion: vitistack.io/v1\nkind: Machine\nmetadata: { name: a }\n'), {
    code: 1,
    out: /there is no Machine in vitistack.io\/v1; there are Machine vitistack.io\/v1alpha1/
  })
  t.match(await drover(['validate'], 'just text'), { code: 1, out: /is no object/ })
  t.match(await drover(['validate'], 'apiVersion: vitistack.io/v1alpha1\nkind: Machine\nspec: {}'), {
    code: 1,
    out: /metadata.name: is required/
  })
})

t.test('what cannot be read gives 2 and says why', async t => {
  t.match(await drover(['validate', '-f', at('none.yaml')]), { code: 2, err: /none.yaml: there is no such file\n$/ })
  t.match(await drover(['validate', '-f', at('broken.yaml')]), { code: 2, err: /broken.yaml:\d: / })
  t.match(await drover(['validate', at('empty')]), { code: 2, err: /no .yaml/ })
  t.match(await drover(['validate', '--output', 'xml']), { code: 1, err: /Allowed choices are text, wide, json/ })
  t.match(await drover(['valdiate']), { code: 1, err: /Did you mean validate/ })
})

t.test('render: what would be created for a Machine, by the code that does it', async t => {
  const { code, out } = await drover(['render', '-o', 'text', at('good.yaml')])
  t.equal(code, 0)
  t.match(out, /^VirtualMachine +shop +web$/m)
  t.match(out, /^NetworkAttachmentDefinition +shop +br0-untagged$/m)
  const yaml = await drover(['render', '-f', at('good.yaml')])
  t.match(yaml.out, /^kind: VirtualMachine$/m)
  t.notMatch(yaml.out, /ownerReferences/, 'a Machine that was never stored owns nothing')
  t.strictSame(await drover(['render', '-f', at('good.yaml')]), yaml, 'the same again')
  t.match(JSON.parse((await drover(['render', '-o', 'json', at('good.yaml')])).out), { kind: 'List' })
  const lonely = machine('web', '{ template: small, networks: [{ name: a, networkName: other }] }')
  t.match(await drover(['render'], lonely), { code: 2, err: /NetworkConfiguration other is not among the files/ })
  t.match(await drover(['render', at('bad.yaml')]), { code: 2, err: /bad.yaml:1: would be refused: .*huge/ })
  t.match(await drover(['render'], network), { code: 2, err: /there is no Machine/ })
  t.match(await drover(['render', at('none.yaml')]), { code: 2, err: /there is no such file/ })
})
