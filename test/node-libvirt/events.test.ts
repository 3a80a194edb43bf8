import t from 'tap'
import { type DomainEvent, eventKinds } from 'node-libvirt'
import { writeDomain } from '../../shared/node-libvirt/src/domain.ts'
import { decodeEvent, eventKindOf, eventRows } from '../../shared/node-libvirt/src/events/index.ts'
import { Reader } from '../../shared/node-libvirt/src/xdr/reader.ts'
import { Writer } from '../../shared/node-libvirt/src/xdr/writer.ts'

const domain = { name: 'g', uuid: '00010203-0405-0607-0809-0a0b0c0d0e0f', id: 7 }

/** After the callback id; all but the sleeping ones begin with the domain. */
const cases: Array<[write: (w: Writer) => unknown, event: DomainEvent]> = [
  [w => writeDomain(w, domain).int(5).int(3), { kind: 'lifecycle', domain, event: 'stopped', detail: 'migrated' }],
  [w => writeDomain(w, domain).int(5).int(99), { kind: 'lifecycle', domain, event: 'stopped', detail: 99 }],
  [w => writeDomain(w, domain).int(77).int(0), { kind: 'lifecycle', domain, event: 77, detail: 0 }],
  [w => writeDomain(w, domain), { kind: 'reboot', domain }],
  [w => writeDomain(w, domain).hyper(-3600n), { kind: 'rtc-change', domain, offsetSeconds: -3600n }],
  [w => writeDomain(w, domain).int(6), { kind: 'watchdog', domain, action: 'inject-nmi' }],
  [w => writeDomain(w, domain).int(-1), { kind: 'watchdog', domain, action: -1 }],
  [
    w => writeDomain(w, domain).string('/x').string('vda').int(1),
    { kind: 'io-error', domain, path: '/x', device: 'vda', action: 'pause' }
  ],
  [
    w =>
      writeDomain(w, domain)
        .int(1)
        .int(0)
        .string('::')
        .string('1')
        .int(2)
        .string('')
        .string('2')
        .string('vnc')
        .list([1], () => w.string('x509dname').string('CN=me')),
    {
      kind: 'graphics',
      domain,
      phase: 'initialize',
      local: { family: 'ipv4', node: '::', service: '1' },
      remote: { family: 'unix', node: '', service: '2' },
      authScheme: 'vnc',
      subject: [{ type: 'x509dname', name: 'CN=me' }]
    }
  ],
  [
    w => writeDomain(w, domain).string('/x').string('vda').int(2).string('enospc'),
    { kind: 'io-error-reason', domain, path: '/x', device: 'vda', action: 'report', reason: 'enospc' }
  ],
  [w => writeDomain(w, domain), { kind: 'control-error', domain }],
  [
    w => writeDomain(w, domain).string('/x').int(5).int(1),
    { kind: 'block-job', domain, disk: '/x', type: 'backup', status: 'failed' }
  ],
  [
    w => writeDomain(w, domain).uint(0).uint(1).string('/new').string('ide0').int(1),
    { kind: 'disk-change', domain, oldPath: null, newPath: '/new', device: 'ide0', reason: 'dropped-missing-on-start' }
  ],
  [w => writeDomain(w, domain).string('ide0').int(1), { kind: 'tray-change', domain, device: 'ide0', reason: 'close' }],
  [w => writeDomain(w.int(4), domain), { kind: 'pm-wakeup', domain, reason: 4 }],
  [w => writeDomain(w.int(0), domain), { kind: 'pm-suspend', domain, reason: 0 }],
  [w => writeDomain(w, domain).uhyper(2n ** 64n - 1n), { kind: 'balloon-change', domain, actualKiB: 2n ** 64n - 1n }],
  [w => writeDomain(w.int(0), domain), { kind: 'pm-suspend-disk', domain, reason: 0 }],
  [w => writeDomain(w, domain).string('net0'), { kind: 'device-removed', domain, device: 'net0' }],
  [
    w => writeDomain(w, domain).string('vda').int(9).int(3),
    { kind: 'block-job-2', domain, disk: 'vda', type: 9, status: 'ready' }
  ],
  [
    w => writeDomain(w, domain).uint(1).string('blkdeviotune.total').int(4).uhyper(5n),
    { kind: 'tunable', domain, params: [{ field: 'blkdeviotune.total', type: 'ullong', value: 5n }] }
  ],
  [w => writeDomain(w, domain).int(1).int(2), { kind: 'agent-lifecycle', domain, state: 'connected', reason: 'channel' }],
  [w => writeDomain(w, domain).string('net0'), { kind: 'device-added', domain, device: 'net0' }],
  [w => writeDomain(w, domain).int(12), { kind: 'migration-iteration', domain, iteration: 12 }],
  [w => writeDomain(w, domain).uint(0), { kind: 'job-completed', domain, params: [] }],
  [w => writeDomain(w, domain).string('net0'), { kind: 'device-removal-failed', domain, device: 'net0' }],
  [w => writeDomain(w, domain).int(1).uint(0), { kind: 'metadata-change', domain, type: 'title', namespace: null }],
  [
    w => writeDomain(w, domain).string('vda').uint(0).uhyper(1n).uhyper(2n),
    { kind: 'block-threshold', domain, device: 'vda', path: null, thresholdBytes: 1n, excessBytes: 2n }
  ],
  [
    w => writeDomain(w, domain).int(0).int(7).uint(1),
    { kind: 'memory-failure', domain, recipient: 'hypervisor', action: 7, actionRequired: true, recursive: false }
  ]
]

for (const [write, event] of cases) {
  t.test(`${event.kind} (VIR_DOMAIN_EVENT_ID ${eventRows[event.kind].id})`, async t => {
    const w = new Writer()
    write(w)
    t.strictSame(decodeEvent(event.kind, new Reader(w.take())), event)
    t.equal(eventKindOf(eventRows[event.kind].number), event.kind)
  })
}

t.test('each kind has a case', async t => t.strictSame(new Set(cases.map(([, { kind }]) => kind)), new Set(eventKinds)))

t.test('a message of another number is no event', async t => t.equal(eventKindOf(1), undefined))
