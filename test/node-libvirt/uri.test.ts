import t from 'tap'
import { type Address, parseUri } from 'node-libvirt'

const tls = { transport: 'tls' as const, verify: true, pkiPath: undefined }
const good: Array<[uri: string, address: Address]> = [
  ['qemu:///system', { name: 'qemu:///system', target: { transport: 'unix', path: '/run/libvirt/libvirt-sock' } }],
  ['qemu+unix:///system', { name: 'qemu:///system', target: { transport: 'unix', path: '/run/libvirt/libvirt-sock' } }],
  ['qemu+unix:///system?socket=/tmp/a%20b', { name: 'qemu:///system', target: { transport: 'unix', path: '/tmp/a b' } }],
  ['qemu+unix:///session?socket=/tmp/s', { name: 'qemu:///session', target: { transport: 'unix', path: '/tmp/s' } }],
  ['test+unix:///default?socket=/tmp/s', { name: 'test:///default', target: { transport: 'unix', path: '/tmp/s' } }],
  ['qemu+tcp://host/system', { name: 'qemu:///system', target: { transport: 'tcp', host: 'host', port: 16_509 } }],
  ['qemu+tcp://host:80/system', { name: 'qemu:///system', target: { transport: 'tcp', host: 'host', port: 80 } }],
  ['ch+tcp://10.0.0.1:99/system', { name: 'ch:///system', target: { transport: 'tcp', host: '10.0.0.1', port: 99 } }],
  ['qemu+tcp://[fe80::1]:99/system', { name: 'qemu:///system', target: { transport: 'tcp', host: 'fe80::1', port: 99 } }],
  ['qemu://host/system', { name: 'qemu:///system', target: { ...tls, host: 'host', port: 16_514 } }],
  ['qemu+tls://host:1/system?no_verify=1', { name: 'qemu:///system', target: { ...tls, host: 'host', port: 1, verify: false } }],
  ['qemu+tls://host/system?no_verify=0', { name: 'qemu:///system', target: { ...tls, host: 'host', port: 16_514 } }],
  ['qemu+tls://host/system?pkipath=/p', { name: 'qemu:///system', target: { ...tls, host: 'host', port: 16_514, pkiPath: '/p' } }]
]
for (const [uri, address] of good) t.test(uri, async t => t.strictSame(parseUri(uri), address))

t.test('read-only has a socket of its own', async t => {
  t.match(parseUri('qemu:///system', { readOnly: true }), { target: { path: '/run/libvirt/libvirt-sock-ro' } })
})

const bad: Array<[uri: string, why: RegExp]> = [
  ['', /driver\+transport/],
  ['qemu', /driver\+transport/],
  ['/run/libvirt/libvirt-sock', /driver\+transport/],
  ['QEMU:///system', /driver\+transport/],
  ['qemu:///system#x', /driver\+transport/],
  ['qemu+ssh://host/system', /transport ssh is unknown/],
  ['qemu+constructor://host/system', /transport constructor is unknown/],
  ['qemu+unix://host/system', /no host/],
  ['qemu+tcp:///system', /needs a host/],
  ['qemu+tls:///system', /needs a host/],
  ['qemu+tcp://host:x/system', /not a URI/],
  ['qemu+tcp://host:70000/system', /not a URI/],
  ['qemu+tcp://user@host/system', /user name/],
  ['qemu+tcp://host/system?socket=/x', /parameter socket is unknown for tcp/],
  ['qemu+unix:///system?mode=direct', /parameter mode is unknown for unix: socket possible/],
  ['qemu:///session', /socket=/]
]
for (const [uri, why] of bad) {
  t.test(`refuses ${uri}`, async t =>
    t.throws(() => parseUri(uri), { name: 'LibvirtError', code: 'uri', retryable: false, message: why })
  )
}
