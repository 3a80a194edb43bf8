// The wire protocols without a daemon: cut at every byte, noise, peers that misbehave (OV-10).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type Socket, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import t, { type Test } from 'tap'
import { interfaceBlock, packetBlock, section } from '../../../agents/ovs/capture/pcapng.ts'
import { readDatagram } from '../../../agents/ovs/capture/sflow.ts'
import { readInput } from '../../../agents/ovs/diagnostics/input.ts'
import { Refusal } from '../../../agents/ovs/diagnostics/refusal.ts'
import { Conversation, readStatistics } from '../../../agents/ovs/wire/openflow.ts'
import { FrameSplitter, writeFrame } from '../../../agents/ovs/wire/openflow-frames.ts'
import { aggregate, ports, tables } from '../../../agents/ovs/wire/openflow-statistics.ts'
import { ask, commands, readReply } from '../../../agents/ovs/wire/unixctl.ts'
import { matchWhole } from '../../assert/match-whole.ts'

async function peer(t: Test, path: string, hear: (socket: Socket, said: string) => void): Promise<void> {
  const server = createServer(socket => socket.on('error', () => {}).on('data', chunk => hear(socket, chunk.toString())))
  server.listen(path)
  await once(server, 'listening')
  t.teardown(() => server.close())
}

async function folder(t: Test): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'd-'))
  t.teardown(() => rm(dir, { recursive: true }))
  await writeFile(join(dir, 'ovs-vswitchd.pid'), '42\n')
  return dir
}

t.test('OV-18 unixctl: a reply in single bytes, an error without a result, and peers that misbehave', async t => {
  const dir = await folder(t)
  const reply = Buffer.from(JSON.stringify({ id: 0, result: 'a "brace" } and ünïcode', error: null }))
  let answer: (socket: Socket) => void = socket => {
    for (const byte of reply) socket.write(Buffer.from([byte]))
  }
  await peer(t, join(dir, 'ovs-vswitchd.42.ctl'), socket => answer(socket))
  t.equal(await ask(dir, 'ovs-vswitchd', 'version'), 'a "brace" } and ünïcode')
  answer = socket => socket.write('{"id":0,"error":"no such bond\\n"}')
  await t.rejects(ask(dir, 'ovs-vswitchd', 'bond/show', ['x']), { code: 'rejected', message: 'no such bond' })
  answer = socket => socket.write('nonsense')
  await t.rejects(ask(dir, 'ovs-vswitchd', 'version'), { code: 'protocol' })
  answer = socket => socket.write('{"id":0,"result":5}')
  await t.rejects(ask(dir, 'ovs-vswitchd', 'version'), { code: 'protocol' })
  answer = socket => socket.end()
  await t.rejects(ask(dir, 'ovs-vswitchd', 'version'), { code: 'not-running' })
  answer = () => {}
  await t.rejects(ask(dir, 'ovs-vswitchd', 'version'), { code: 'timeout' }, 'OV-20')
})

t.test('OV-19 who is not there: no pid, nobody behind the socket, no folder', async t => {
  const dir = await folder(t)
  await t.rejects(ask(dir, 'ovs-vswitchd', 'version'), { code: 'not-running' })
  await t.rejects(ask(dir, 'ovn-controller', 'connection-status'), { code: 'not-running' })
  await t.rejects(ask(join(dir, 'none'), 'ovn-controller', 'connection-status'), { code: 'no-folder' })
})

t.test('OV-18 a daemon that is frozen for long takes no more callers, and still counts as one that runs', async t => {
  const dir = await folder(t)
  const path = join(dir, 'ovs-vswitchd.42.ctl')
  const listen = `require('node:net').createServer().listen({ path: ${JSON.stringify(path)}, backlog: 1 }, () => console.log('up'))`
  const frozen = spawn(process.execPath, ['-e', listen], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => frozen.kill('SIGKILL'))
  await once(frozen.stdout, 'data')
  frozen.kill('SIGSTOP')
  const codes = await Promise.all(
    Array.from({ length: 6 }, () =>
      ask(dir, 'ovs-vswitchd', 'version').catch((error: { code: string; cause?: unknown }) => error)
    )
  )
  t.ok(codes.every(error => typeof error === 'object' && error.code === 'timeout'))
  t.ok(
    codes.some(error => typeof error === 'object' && (error.cause as { code?: string })?.code === 'EAGAIN'),
    'some were turned away at the door'
  )
})

t.test('OV-20 nothing that changes anything can be asked', async t => {
  const names = Object.values(commands).flatMap(list => Object.keys(list))
  t.strictSame(
    names.filter(
      name =>
        !/^(version|list-commands|connection-status|ct-zone-list|ofproto\/(trace|list-tunnels)|bridge\/dump-flows|debug\/status|.*show(-stats)?)$/.test(
          name
        )
    ),
    []
  )
  t.throws(() => readReply('{"id":0,"error":"x"}'), { code: 'rejected' })
})

const multipart = (number: number, xid: number, body: Buffer, more = false) => {
  const head = Buffer.alloc(8)
  head.writeUInt16BE(number, 0)
  head.writeUInt16BE(more ? 1 : 0, 2)
  return writeFrame(19, xid, Buffer.concat([head, body]))
}
const hello = writeFrame(0, 1)
const sums = Buffer.alloc(24)
sums.writeBigUInt64BE(2n ** 60n, 0)
sums.writeUInt32BE(7, 16)
const table = (id: number, flows: number) => {
  const entry = Buffer.alloc(24)
  entry.writeUInt8(id, 0)
  entry.writeUInt32BE(flows, 4)
  return entry
}
const port = Buffer.alloc(112)
port.writeUInt32BE(3, 0)
port.writeBigUInt64BE(9n, 8)

t.test('OV-21 OpenFlow: cut at every byte, answers in another order and in parts', async t => {
  const talk = Buffer.concat([
    hello,
    writeFrame(2, 99, Buffer.from('ping')), // echo request
    multipart(3, 2, table(0, 5), true),
    multipart(4, 3, port),
    multipart(3, 2, table(10, 2)),
    writeFrame(10, 0, Buffer.alloc(20)), // a packet-in that nobody asked for
    multipart(2, 1, sums)
  ])
  for (let cut = 0; cut <= talk.length; cut++) {
    const said: Buffer[] = []
    const conversation = new Conversation([aggregate, tables, ports], bytes => said.push(bytes))
    const answers = [conversation.hear(talk.subarray(0, cut)), conversation.hear(talk.subarray(cut))].find(Boolean)
    if (!answers) return t.fail(`cut at ${cut}`)
    const [sum, list, counters] = answers as [object, object, object]
    if (cut % 50 === 0) {
      t.strictSame(sum, { packets: 2n ** 60n, bytes: 0n, flows: 7 })
      t.strictSame(list, [
        { table: 0, flows: 5 },
        { table: 10, flows: 2 }
      ])
      matchWhole(t, counters, [{ port: 3, rxPackets: 9n }])
      t.ok(
        said.some(bytes => bytes[1] === 3 && bytes.subarray(8).toString() === 'ping'),
        'the echo is answered'
      )
      t.strictSame(new Set(said.map(bytes => bytes[1])), new Set([3, 18]), 'OV-21 statistics and echoes, nothing else')
    }
  }
  return undefined
})

t.test('OV-23 a bridge without OpenFlow 1.3, and other surprises', async t => {
  const hear = (bytes: Buffer) => () => new Conversation([aggregate], () => {}).hear(bytes)
  const old = Buffer.from(hello)
  old.writeUInt8(1, 0)
  t.throws(hear(old), { code: 'version' })
  t.throws(hear(writeFrame(0, 1, Buffer.from([0, 1, 0, 8, 0, 0, 0, 2]))), { code: 'version' })
  t.throws(hear(writeFrame(1, 1, Buffer.from([0, 0, 0, 0]))), { code: 'version' })
  t.throws(hear(writeFrame(1, 1, Buffer.from([0, 1, 0, 0]))), { code: 'rejected' })
  t.throws(hear(multipart(3, 1, Buffer.alloc(24))), { code: 'protocol' })
  t.throws(hear(multipart(2, 1, Buffer.alloc(4))), { code: 'protocol' })
  t.throws(() => new FrameSplitter().push(Buffer.from([4, 0, 0, 7, 0, 0, 0, 0])), { code: 'protocol' })
  await t.rejects(readStatistics('/nonexistent', [aggregate]), { code: 'not-running' })
  const dir = await folder(t)
  await peer(t, join(dir, 'silent'), () => {})
  await t.rejects(readStatistics(join(dir, 'silent'), [aggregate], 100), { code: 'timeout' })
})

t.test('fuzz: noise is refused or ignored, never more', async t => {
  const noise = fc.uint8Array({ maxLength: 64 })
  const openFlow = fc.property(noise, bytes => {
    try {
      new Conversation([aggregate, tables, ports], () => {}).hear(Buffer.concat([hello, bytes]))
      return true
    } catch (error) {
      return (error as Error).name === 'OpenFlowError'
    }
  })
  const sFlow = fc.property(noise, bytes => {
    const samples = readDatagram(Buffer.concat([Buffer.from([0, 0, 0, 5, 0, 0, 0, 1]), bytes]))
    return samples === undefined || Array.isArray(samples)
  })
  t.equal(fc.check(openFlow, { numRuns: 20_000 }).failed, false)
  t.equal(fc.check(sFlow, { numRuns: 20_000 }).failed, false)
})

t.test('pcapng: every block is a multiple of four bytes and says its length twice', async t => {
  for (const header of [Buffer.alloc(0), Buffer.from('abc'), Buffer.alloc(128)]) {
    const sample = { input: 1, output: undefined, rate: 64, frameBytes: 1500, header }
    for (const block of [section('test'), interfaceBlock('eno1', 128), packetBlock(Date.UTC(2026, 0), sample, 0)]) {
      t.equal(block.length % 4, 0)
      t.equal(block.readUInt32LE(4), block.length)
      t.equal(block.readUInt32LE(block.length - 4), block.length)
    }
  }
})

t.test('OV-57, OV-61 what may be asked of a trace and a capture', async t => {
  const capture = (more: object) => () => readInput('capture', JSON.stringify({ bridge: 'br-int', ...more }))
  for (const bad of [
    { seconds: 0 },
    { seconds: 61 },
    { headerBytes: 257 },
    { headerBytes: 63 },
    { maxBytes: 2 ** 25 },
    { sampling: 0 },
    { mode: 'all' },
    { agent: 'x' }
  ]) {
    t.throws(capture(bad), Refusal, JSON.stringify(bad))
  }
  t.ok(capture({ seconds: 60, headerBytes: 256, sampling: 1, mode: 'mirror' })())
  t.throws(() => readInput('trace', '{'), Refusal)
  const flow = fc.property(fc.string({ maxLength: 30 }), text => {
    try {
      return /^[A-Za-z0-9_.:,=/()+[\]][A-Za-z0-9_.:,=/()+[\]-]*$/.test(
        readInput('trace', JSON.stringify({ bridge: 'b', flow: text })).flow
      )
    } catch (error) {
      return (error as { status?: number }).status === 400
    }
  })
  t.equal(fc.check(flow, { numRuns: 5000 }).failed, false)
})
