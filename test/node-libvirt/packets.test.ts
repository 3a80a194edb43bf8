import t from 'tap'
import { procedures as p, type Procedure } from 'node-libvirt'
import { decodeEvent, eventKindOf } from '../../shared/node-libvirt/src/events/index.ts'
import { HEADER_BYTES, KEEPALIVE_PROGRAM, readHeader, REMOTE_PROGRAM, writeFrame } from '../../shared/node-libvirt/src/frame.ts'
import { Framer } from '../../shared/node-libvirt/src/framer.ts'
import { readServerError } from '../../shared/node-libvirt/src/server-error.ts'
import { parseUri } from 'node-libvirt'
import { Reader } from '../../shared/node-libvirt/src/xdr/reader.ts'
import { Writer } from '../../shared/node-libvirt/src/xdr/writer.ts'
import { byHand, recorded, recordedDomain as domain } from '../fixtures/node-libvirt/packets.ts'
import { matchWhole } from '../assert/match-whole.ts'

function encoded<Args>(procedure: Procedure<Args, unknown>, serial: number, args: Args): Buffer {
  const w = new Writer()
  return writeFrame(w, { program: REMOTE_PROGRAM, procedure: procedure.number, type: 0, serial }, () => procedure.encode(w, args))
}

function whole<T>(frame: Buffer, read: (r: Reader) => T): T {
  const r = new Reader(frame, HEADER_BYTES)
  const value = read(r)
  r.end()
  return value
}

const event = (frame: Buffer) =>
  whole(frame, r => {
    const kind = eventKindOf(readHeader(frame).procedure)
    if (!kind) throw new Error('no event')
    return { callbackId: r.int(), ...decodeEvent(kind, r) }
  })

t.test('what is sent is what libvirt was sent', async t => {
  t.strictSame(encoded(p.authList, 0, undefined), recorded.authListCall)
  t.strictSame(encoded(p.connectOpen, 2, { name: parseUri('qemu+unix:///system').name }), recorded.openCall)
  t.strictSame(encoded(p.domainGetState, 10, { domain }), recorded.stateCall)
  t.strictSame(encoded(p.connectOpen, 2, { name: parseUri('ch+tcp://host/system').name }), byHand.chOpenCall)
  t.strictSame(writeFrame(new Writer(), { program: KEEPALIVE_PROGRAM, procedure: 1, type: 2, serial: 0 }), recorded.ping)
  t.strictSame(writeFrame(new Writer(), { program: KEEPALIVE_PROGRAM, procedure: 2, type: 2, serial: 0 }), recorded.pong)
})

t.test('replies', async t => {
  t.strictSame(readHeader(recorded.authListReply), {
    program: REMOTE_PROGRAM,
    version: 1,
    procedure: 66,
    type: 1,
    serial: 0,
    status: 0
  })
  t.strictSame(whole(recorded.authListReply, p.authList.decode), [p.AUTH.none])
  t.strictSame(whole(recorded.registerReply, p.eventCallbackRegister.decode), 1)
  t.strictSame(whole(recorded.listReply, p.connectListAllDomains.decode), [domain])
  t.strictSame(whole(recorded.stateReply, p.domainGetState.decode), { state: 'paused', reason: 'user' })
  t.strictSame(whole(recorded.nodeInfoReply, p.nodeGetInfo.decode), {
    model: 'x86_64',
    memoryKiB: 13_197_892n,
    cpus: 2,
    mhz: 2299,
    numaNodes: 1,
    socketsPerNode: 1,
    coresPerSocket: 2,
    threadsPerCore: 1
  })
})

t.test('errors', async t => {
  t.strictSame(whole(recorded.noDomainReply, readServerError), {
    number: 42,
    domain: 10,
    level: 2,
    message: "Domain not found: no domain with matching name 'nobody'",
    details: ['Domain not found: %s', "no domain with matching name 'nobody'"]
  })
  matchWhole(t, whole(byHand.chErrorReply, readServerError), { number: 3, domain: 72, message: 'none', details: [] })
})

t.test('events', async t => {
  t.strictSame(event(recorded.startedEvent), { callbackId: 0, kind: 'lifecycle', domain, event: 'started', detail: 'booted' })
  t.strictSame(event(recorded.agentEvent), {
    callbackId: 1,
    kind: 'agent-lifecycle',
    domain,
    state: 'disconnected',
    reason: 'domain-started'
  })
  t.strictSame(event(byHand.memoryFailureEvent), {
    callbackId: 25,
    kind: 'memory-failure',
    domain,
    recipient: 'guest',
    action: 'fatal',
    actionRequired: true,
    recursive: true
  })
  t.strictSame(event(byHand.removalFailedEvent), { callbackId: 22, kind: 'device-removal-failed', domain, device: 'net0' })
})

t.test('every frame, cut at every byte', async t => {
  for (const [name, frame] of Object.entries({ ...recorded, ...byHand })) {
    for (let at = 0; at <= frame.length; at++) {
      const frames: Buffer[] = []
      const framer = new Framer(bytes => frames.push(Buffer.from(bytes)))
      framer.push(frame.subarray(0, at))
      framer.push(frame.subarray(at))
      if (frames.length !== 1 || !frames[0]?.equals(frame)) t.fail(`${name} cut at ${at}`)
    }
    t.equal(frame.readUInt32BE(), frame.length, `${name} has the length it says`)
  }
})

t.test('every body, too short by any number of bytes, is an error of ours', async t => {
  const bodies: Array<[frame: Buffer, read: (r: Reader) => unknown]> = [
    [recorded.listReply, p.connectListAllDomains.decode],
    [recorded.nodeInfoReply, p.nodeGetInfo.decode],
    [recorded.noDomainReply, readServerError],
    [byHand.memoryFailureEvent, r => [r.int(), decodeEvent('memory-failure', r)]]
  ]
  for (const [frame, read] of bodies) {
    for (let length = HEADER_BYTES; length < frame.length; length++) {
      t.throws(() => whole(frame.subarray(0, length), read), { name: 'LibvirtError', code: 'decode' })
    }
  }
})
