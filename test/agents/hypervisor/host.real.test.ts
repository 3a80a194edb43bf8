// Long: API server, libvirtd and bus are started once for all of it. The agent and its host, over a real dbus-daemon: units, shutdown, updates, certificates (NA-11, NA-16, NA-20…28). libvirt is its own test
// driver in the real daemon; the API server is the real one.
import { lstat, mkdir, readFile, readlink, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { connect as connectLibvirt, procedures } from 'node-libvirt'
import t from 'tap'
import { CertificateSigningRequest, connect, Namespace, Secret } from '../../../shared/kube/index.ts'
import { Hypervisor } from '../../../shared/schema/hypervisor.ts'
import { answer, askedFor, makeAuthority, makeCertificate } from '../../servers/certificates.ts'
import { startBus } from '../../servers/dbus.ts'
import { eventually } from '../../servers/eventually.ts'
import { applyPolicies, applyRights, asServiceAccount, tokenOnNode } from '../../servers/identity.ts'
import { kubernetes } from '../../servers/real-kubernetes.ts'
import { startLibvirt } from '../../servers/libvirt.ts'
import { request } from '../../servers/request.ts'
import { agent, broker, hostRoot } from './harness.ts'

t.setTimeout(300_000)
const whole = t // what outlives a sub-test
const api = await kubernetes(t)
const kubeconfig = await asServiceAccount(t, api, 'hypervisor-agent.yaml', 'hypervisor-agent')
const admin = await connect({ manager: 'test', kubeconfig: api.kubeconfig })
t.teardown(() => admin.close())
const { nodes } = await startLibvirt(t)
const [node] = nodes as [(typeof nodes)[number]]
const bus = await startBus(t)
const sink = await broker(t)
const root = await hostRoot(t)
const name = `host-${api.namespace}`
await mkdir(join(root, 'var/crash/old'), { recursive: true }) // of a crash before the agent came: no news
const env = {
  NODE_NAME: name,
  KUBECONFIG: kubeconfig,
  K_SINK: sink.url,
  LIBVIRT_URI: node.testUri,
  SYSTEM_BUS: bus.address,
  HOST_ROOT: root,
  STATE_FOLDER: join(root, 'state'),
  PKI_FOLDER: join(root, 'pki'),
  STATUS_GAP: '50ms',
  CERTIFICATE_CHECK: '100ms',
  EVENT_KINDS_FILE: join(root, 'events')
}
await admin.create(Hypervisor, { metadata: { name }, spec: { installCertificate: false } })
const status = async () => (await admin.find(Hypervisor, name))?.status
const condition = async (type: string) => (await status())?.conditions?.find(known => known.type === type)
const becomes = (type: string, status: string, reason: string) =>
  eventually(`${type} ${status}/${reason}`, async () => {
    const found = await condition(type)
    return found?.status === status && found.reason === reason && found
  })
const setSpec = (spec: object) => admin.patch(Hypervisor, { name }, { spec })

await bus.unit('libvirtd.service', 'inactive')
await bus.delayMs(8000)
const first = await agent(t, { ...env, EXPECTED_DRAIN: '1m' })
let second = first // after the boot

t.test('NA-11: no connection while the unit is down, and one as soon as it runs', async t => {
  await becomes('LibVirtConnection', 'False', 'LibVirtServiceNotRunning')
  t.match((await sink.seen('libvirt.lost')).data, { host: name, reason: 'libvirtd.service is not running' })
  t.equal(sink.find('libvirt.restored'), undefined)
  await bus.unit('libvirtd.service', 'active')
  await becomes('LibVirtConnection', 'True', 'Connected')
  await sink.seen('libvirt.restored')
})

t.test('NA-16: unit states', async () => {
  await becomes('libvirtd.service', 'True', 'Running')
  await becomes('openvswitch-switch.service', 'Unknown', 'NotFound')
  for (const [state, told, reason] of [
    ['activating', 'Unknown', 'Activating'],
    ['failed', 'False', 'Failed'],
    ['active', 'True', 'Running']
  ] as const) {
    await bus.unit('openvswitch-switch.service', state)
    await becomes('openvswitch-switch.service', told, reason)
  }
})

t.test('NA-16: OS facts of hostnamed', async t => {
  const os = await eventually('the facts', async () => {
    const found = (await status())?.operatingSystem
    return found?.hardwareModel !== undefined && found
  })
  t.match(os, {
    kernelRelease: '6.6.6-cloud',
    hardwareVendor: 'ACME',
    hardwareModel: 'Box 9',
    firmwareDate: '2023-11-14T22:13:20Z',
    version: '1443.3'
  })
})

t.test('NA-20: a delay lock of logind, by the object’s wish', async t => {
  const held = async (count: number) => eventually(`${count} locks`, async () => (await bus.state()).inhibitors.length === count)
  await held(1)
  t.match((await bus.state()).inhibitors, [{ what: 'sleep:shutdown', mode: 'delay', who: 'drover' }])
  await setSpec({ evacuateOnReboot: false })
  await held(0)
  await setSpec({ evacuateOnReboot: true })
  await held(1)
  const { agent: told } = (await status()) ?? {}
  t.equal(told?.shutdownBudgetSeconds, 8)
  t.match(told?.degraded?.join(), /held back for 8 s only/, 'NA-22: below the expected drain time')
})

t.test('NA-21: called off: told, and the lock is there again', async t => {
  await bus.shutdown(true)
  t.match((await sink.seen('shutdown.requested')).data, { host: name, budgetSeconds: 8 })
  t.equal((await bus.state()).inhibitors.length, 1, 'held back: a domain runs')
  await bus.shutdown(false)
  await sink.seen('shutdown.cancelled')
  await eventually('the lock', async () => (await bus.state()).inhibitors.length === 1)
})

t.test('NA-22: released when no domain is left', async t => {
  const virt = await connectLibvirt(node.testUri)
  t.teardown(() => virt.close())
  await bus.shutdown(true)
  await eventually('two requests', async () => sink.told.filter(({ type }) => type === 'shutdown.requested').length === 2)
  const [domain] = await virt.domains({ flags: procedures.LIST.active })
  if (!domain) throw new Error('the test driver has a domain')
  await virt.call(procedures.domainDestroy, { domain })
  await eventually('the host to go down', async () => typeof (await bus.state()).down === 'number')
  await bus.shutdown(false)
  await eventually('the lock', async () => (await bus.state()).inhibitors.length === 1)
  await virt.call(procedures.domainCreate, { domain })
  await eventually('it again', async () => (await status())?.instances?.some(({ active }) => active))
})

t.test('NA-22: released when the budget ends, before logind loses patience', async t => {
  await bus.shutdown(true)
  const down = await eventually('the end', async () => {
    const state = await bus.state()
    return state.down !== 'coming' && state.down
  })
  t.type(down, 'number', 'not forced')
  await bus.shutdown(false)
  await eventually('the lock', async () => (await bus.state()).inhibitors.length === 1)
})

t.test('NA-23, NA-24: an update fails three times and stops; another version is another try', async t => {
  await bus.result('systemd-sysupdate@2.0.service', 'failed')
  await setSpec({ version: '2.0' })
  await eventually('no tries left', async () => (await status())?.updateStatus?.retry === 0)
  await becomes('OperatingSystemUpdate', 'False', 'Stopped')
  t.equal((await bus.state()).started.filter(unit => unit === 'systemd-sysupdate@2.0.service').length, 3)
  await setSpec({ version: '2.1', reboot: true })
  await becomes('OperatingSystemUpdate', 'True', 'Completed')
  t.match((await status())?.updateStatus, { installed: '2.1', retry: 3, inProgress: false })
  await eventually('the reboot', async () => (await bus.state()).started.includes('systemd-sysupdate-reboot.target'))
  t.equal((await admin.find(Hypervisor, name))?.spec.version, '2.1', 'the agent never edits the spec')
})

t.test('NA-25: after the boot the version is verified; in auto maintenance a drained host comes first', async t => {
  await first.close()
  await writeFile(join(root, 'etc/os-release'), 'GARDENLINUX_VERSION=2.1\n')
  await writeFile(join(root, 'proc/sys/kernel/random/boot_id'), '99999999-2222-4333-8444-555555555555\n')
  await mkdir(join(root, 'var/crash/202611170101'))
  const reboots = (await bus.state()).started.filter(unit => unit.endsWith('reboot.target')).length
  second = await agent(whole, env)
  const done = await eventually('the verdict', async () => {
    const found = await condition('OperatingSystemUpdate')
    return found?.message.includes('verified') && found
  })
  const crash = await sink.seen('kernel.crashed')
  t.match(crash.data, { host: name, bootId: /^99999999/, dumps: ['/var/crash/202611170101'] }, 'what the last boot ended by')
  t.match(done, { status: 'True', reason: 'Completed', message: '2.1 runs, verified after the reboot' })
  t.equal((await bus.state()).started.filter(unit => unit.endsWith('reboot.target')).length, reboots, 'no boot after the boot')
  const lines = await eventually('the history', async () => (await status())?.history)
  t.match(
    lines.map(({ kind, from, to, actor }) => [kind, from, to, actor]),
    [
      ['boot', '11111111-2222-4333-8444-555555555555', '99999999-2222-4333-8444-555555555555', 'drover-hypervisor-agent'],
      ['version', '1443.3', '2.1', 'drover-hypervisor-agent']
    ],
    'its own lines of the history'
  )

  await setSpec({ version: '2.2', maintenance: 'auto', reboot: false })
  await eventually('the wait', async () => (await condition('OperatingSystemUpdate'))?.message.includes('drained'))
  t.notOk((await bus.state()).started.includes('systemd-sysupdate@2.2.service'))
  const evicting = {
    type: 'Evicting',
    status: 'False' as const,
    reason: 'Succeeded',
    message: '',
    lastTransitionTime: '2026-11-16T12:00:00Z'
  }
  await admin.applyStatus(Hypervisor, { metadata: { name }, status: { conditions: [evicting] } })
  await eventually('the update', async () => (await status())?.updateStatus?.installed === '2.2')
})

t.test('NA-26, NA-27: the certificate is installed whole, or not at all', async t => {
  await makeCertificate(await makeAuthority(root), root, 'server', [{ type: 'ip', value: '127.0.0.1' }])
  const [ca, cert, key] = await Promise.all(
    ['ca.crt', 'server.crt', 'server.key'].map(file => readFile(join(root, file), 'utf8'))
  )
  if (!ca || !cert || !key) throw new Error('no certificate')
  if (!(await admin.find(Namespace, 'monsoon3'))) await admin.create(Namespace, { metadata: { name: 'monsoon3' } })
  const data = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([file, text]) => [file, Buffer.from(text).toString('base64')]))
  const secret = { name: `tls-libvirt-${name}`, namespace: 'monsoon3' }
  await admin.create(Secret, {
    metadata: secret,
    type: 'Opaque',
    data: data({ 'ca.crt': ca, 'tls.crt': cert, 'tls.key': 'no key' })
  })
  await setSpec({ installCertificate: true })
  await becomes('TLSCertificateInstalled', 'False', 'FailedToUpdateTLSCertificate')
  await t.rejects(stat(join(root, 'pki')), 'nothing was written')

  await bus.result('virt-admin-server-update-tls.service', 'missing')
  await admin.patch(Secret, secret, { data: data({ 'tls.key': key }) })
  await becomes('TLSCertificateInstalled', 'True', 'Ready')
  t.ok((await bus.state()).started.includes('libvirtd.service'), 'the second way, where the first unit is missing')
  for (const file of ['CA/cacert.pem', 'qemu/ca-cert.pem', 'ch/ca-cert.pem'])
    t.equal(await readFile(join(root, 'pki', file), 'utf8'), ca)
  for (const file of ['libvirt/servercert.pem', 'qemu/server-cert.pem', 'libvirt/clientcert.pem'])
    t.equal(await readFile(join(root, 'pki', file), 'utf8'), cert)
  for (const file of ['libvirt/private/serverkey.pem', 'qemu/server-key.pem', 'ch/server-key.pem']) {
    t.equal(await readFile(join(root, 'pki', file), 'utf8'), key)
    t.equal((await lstat(join(root, 'pki', file))).mode & 0o777, 0o600)
  }
  t.equal(await readlink(join(root, 'pki/qemu/client-key.pem')), 'server-key.pem')
})

t.test('NA-28: by request, the key of libvirt’s certificate never leaves the node', async t => {
  await applyRights(api, 'components/csr/rights.yaml')
  const home = await hostRoot(t)
  const authority = await makeAuthority(home)
  const own = `csr-${api.namespace}`
  await admin.create(Hypervisor, { metadata: { name: own }, spec: { evacuateOnReboot: false } })
  await admin.applyStatus(Hypervisor, { metadata: { name: own }, status: { internalIps: ['10.1.2.3', 'fd00::5'] } })
  const csr = {
    ...env,
    NODE_NAME: own,
    HOST_ROOT: home,
    STATE_FOLDER: join(home, 'state'),
    PKI_FOLDER: join(home, 'pki'),
    CERTIFICATE_MODE: 'csr',
    CSR_SIGNER: 'drover.test/libvirt',
    CSR_CA_FILE: join(home, 'ca.crt')
  }
  const told = (message: RegExp) =>
    eventually(`the certificate: ${message}`, async () => {
      const { status: seen } = (await admin.find(Hypervisor, own)) ?? {}
      return seen?.conditions?.find(({ type, message: now }) => type === 'TLSCertificateInstalled' && message.test(now))
    })
  const before = await agent(t, csr)
  await told(/waits for approval/)
  await before.close()
  await agent(t, csr) // finds its request again
  const requests = async () => {
    const { items } = await admin.list(CertificateSigningRequest)
    return items.filter(({ metadata }) => metadata?.name?.startsWith(`libvirt-${own}-`))
  }
  const [asked] = await requests()
  const requestedName = asked?.metadata?.name ?? ''
  t.match(asked?.spec, { username: 'system:serviceaccount:drover-agents:hypervisor-agent', signerName: 'drover.test/libvirt' })
  t.strictSame(await askedFor(asked?.spec.request ?? ''), { subject: `O=nova, CN=${own}`, names: [own, '10.1.2.3', 'fd00::5'] })
  const patch = (subresource: string, status: object) =>
    admin.patch(CertificateSigningRequest, { name: requestedName }, { status }, { subresource })
  await patch('approval', { conditions: [{ type: 'Approved', status: 'True', reason: 'Test', message: 'looked at' }] })
  await told(/waits for its signer/)
  const certificate = Buffer.from(await answer(authority, asked?.spec.request ?? '')).toString('base64')
  await patch('status', { certificate })
  t.match(await told(/is installed/), { status: 'True', reason: 'Ready' })
  t.equal(await readFile(join(home, 'pki/libvirt/servercert.pem'), 'utf8'), Buffer.from(certificate, 'base64').toString())
  t.match(await readFile(join(home, 'pki/libvirt/private/serverkey.pem'), 'utf8'), /BEGIN PRIVATE KEY/)
  t.equal((await requests()).length, 1, 'asked once')

  await applyPolicies(api, 'components/csr/rights.yaml')
  const as = { ...api, adminToken: await tokenOnNode(api, 'drover-agents', 'hypervisor-agent', own) }
  const ask = async (name: string, signerName = 'drover.test/libvirt') => {
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests?dryRun=All'
    const spec = { ...asked?.spec, signerName, username: undefined, uid: undefined, groups: undefined, extra: undefined }
    return (await request(as, 'POST', path, { metadata: { name }, spec })).status
  }
  await eventually('the policy to hold', async () => (await ask('libvirt-another-0123456789')) === 422)
  t.equal(await ask(`libvirt-${own}-b-0123456789`), 422, 'a longer name of another node')
  t.equal(await ask(`libvirt-${own}-0123456789`, 'kubernetes.io/kube-apiserver-client'), 422)
  t.equal(await ask(`libvirt-${own}-0123456789`), 201)
})

t.test('NA-15: which events are told is read again while the agent runs', async t => {
  const virt = await connectLibvirt(node.testUri)
  t.teardown(() => virt.close())
  const [domain] = await virt.domains({ flags: procedures.LIST.active })
  if (!domain) throw new Error('the test driver has a domain')
  const choose = async (text: string, chosen: string[]) => {
    await writeFile(join(root, 'events'), text)
    await eventually('the choice', async () =>
      isDeepStrictEqual(second.lines.findLast(line => line['chosen'])?.['chosen'], chosen)
    )
  }
  /** What is told of a pause; the reports of instances come whatever is chosen, and after the event that they follow. */
  const pause = async () => {
    const from = sink.told.length
    const reported = (state: string) =>
      eventually(`it ${state}`, async () =>
        sink.told
          .slice(from)
          .some(({ type, data }) => type === 'instances.reported' && data['instances'].some((one: any) => one.state === state))
      )
    await virt.call(procedures.domainSuspend, { domain })
    await reported('paused')
    await virt.call(procedures.domainResume, { domain })
    await reported('running')
    return sink.told.slice(from).flatMap(({ type, data }) => (type === 'domain.changed' ? [data['event']] : []))
  }
  await choose('# none of its life\nwatchdog, reboot, earthquake\n', ['watchdog', 'reboot'])
  t.strictSame(second.lines.findLast(line => line['chosen'])?.['unknown'], ['earthquake'], 'what libvirt does not have is told')
  t.strictSame(await pause(), [])
  await choose('lifecycle\n', ['lifecycle'])
  t.strictSame(await pause(), ['suspended', 'resumed'])
})

t.test('the bus dies and comes back', async t => {
  await bus.kill()
  await eventually('the loss in the status', async () =>
    (await status())?.agent?.degraded?.some(text => text.includes('the system bus'))
  )
  await becomes('libvirtd.service', 'Unknown', 'Unknown')
  await bus.restart()
  await bus.unit('libvirtd.service', 'active')
  await becomes('libvirtd.service', 'True', 'Running')
  await eventually('the lock', async () => (await bus.state()).inhibitors.length === 1)
  t.strictSame(sink.malformed, [])
})
