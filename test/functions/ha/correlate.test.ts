// Faults that many servers have at once (HA-15, HA-16), and how all of it is explained.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parsePolicy } from '../../../functions/ha/policy-file.ts'
import { explanationOf, inWords } from '../../../functions/ha/explain.ts'
import { withTables } from '../../../functions/ha/tables.ts'
import { storageOf } from '../../../functions/ha/storage.ts'
import * as libvirt from '../../../shared/events/libvirt.ts'
import { matchWhole } from '../../assert/match-whole.ts'
import { calls, drover, evidence, iso, serverId, startMs, world, type World } from './fixtures.ts'
import { hostWith, many, run } from './host-fixtures.ts'

const s = 1000
const at = iso(startMs)

t.test('where a disk is', async t => {
  const paths = {
    'rbd:vms/one': 'rbd:vms',
    'nfs://filer/x': 'nfs:filer',
    '/var/lib/nova/mnt/4f2e/volume-1': 'mount:/var/lib/nova/mnt/4f2e',
    '/dev/dm-3': 'device',
    '/var/lib/nova/instances/1/disk': 'local',
    '': ''
  }
  for (const [path, storage] of Object.entries(paths)) t.equal(storageOf(path), storage, path)
})

const crowd = (count: number, policy = drover): World => {
  const since = iso(startMs - 3600 * s)
  const instances = Array.from({ length: 10 }, (_, n) => ({
    id: serverId(n),
    name: `i${n}`,
    active: n >= count,
    state: n < count ? 'off' : 'running',
    since: n < count ? at : since
  }))
  const it = world({ instances, numInstances: 10 }, policy)
  for (let n = 0; n < count; n++) {
    it.evidence.set(serverId(n), evidence({ id: serverId(n) }))
    it.tell(libvirt.domainCrashed, { server: serverId(n), event: 'stopped', detail: 'failed' })
  }
  return it
}

t.test('HA-15: a suspected host is disabled, its ladders wait, and go on when it has been calm', async t => {
  const it = run(crowd(4), 30)
  matchWhole(t, it.ha.signals, [{ kind: 'HostSuspect', object: 'crashed', count: 4, effect: 'disable' }])
  t.strictSame(calls(it), ['disable'])
  t.strictSame([...new Set(it.ha.incidents?.map(({ state }) => state))], ['Paused'])
  run(it, 640)
  t.equal(calls(it).filter(call => call.startsWith('restart')).length, 4, 'each once')
  const drained = run(crowd(4, parsePolicy('mode: drover\ncorrelation: { drain: true }')), 10)
  t.strictSame(calls(drained), ['disable', 'drain'])
})

t.test('HA-15: live moves that failed say nothing against the host where they should have gone', async t => {
  const it = crowd(4)
  for (let n = 0; n < 4; n++) it.evidence.set(serverId(n), evidence({ id: serverId(n), host: 'nova-elsewhere' }))
  run(it, 30)
  t.strictSame(calls(it), [])
  t.strictSame(it.ha.signals ?? [], [])
  t.strictSame([...new Set(it.ha.incidents?.map(({ rule }) => rule))], ['NotOnThisHost'])
})

t.test('HA-15: the fleet: alert only, nobody is restarted and no host disabled', async t => {
  const it = crowd(4)
  it.fleet = ['b', 'c', 'd', 'e'].map(name => hostWith(name, 10, many('crashed', 4)))
  run(it, 20)
  matchWhole(t, it.ha.signals, [{ kind: 'FleetFault' }])
  t.strictSame(calls(it), [])
  t.strictSame([...new Set(it.ha.history?.map(({ state }) => state))], ['FleetFault'])
  run(it, 700)
  t.strictSame(calls(it), [])
})

t.test('ha.md §2: watchdogs of three servers, whatever they did, are no coincidence', async t => {
  for (const action of ['reset', 'none', 'inject-nmi']) {
    const it = world({ numInstances: 10 })
    for (let n = 0; n < 3; n++) {
      it.evidence.set(serverId(n), evidence({ id: serverId(n) }))
      it.tell(libvirt.watchdogFired, { server: serverId(n), action })
    }
    run(it, 3)
    matchWhole(t, it.ha.signals, [{ kind: 'HostSuspect', object: 'watchdog', count: 3 }], action)
  }
})

t.test('T-25, HA-16: I/O errors of one host empty it, a storage outage does not', async t => {
  for (const outage of [false, true]) {
    const it = world()
    for (let n = 0; n < 3; n++)
      it.tell(libvirt.diskFailed, { server: serverId(n), device: 'vda', path: 'rbd:vms/x', action: 'report', reason: 'eio' })
    if (outage) it.fleet = [hostWith('b', 10, many('disk', 1, 'rbd:vms'))]
    run(it, 10)
    t.strictSame(calls(it), outage ? [] : ['disable', 'drain'])
    matchWhole(t, it.ha.signals, [{ kind: outage ? 'StorageOutage' : 'StorageSuspect' }])
  }
})

t.test('explain: the same words for people', async t => {
  const it = run(crowd(4), 8)
  const explanation = explanationOf(it.seen(), it.nowMs)
  t.match(explanation, { host: 'host-1', state: 'Unschedulable', modes: { vm: 'drover', signals: 'drover' } })
  const words = inWords(explanation)
  t.match(words, /HostSuspect crashed since .* \(disable\): 4 of 10 servers crashed within 60 s/)
  t.match(words, /Paused: crashed \(stopped\/failed at/)
  t.match(words, /because HostSuspect crashed/)
})

t.test('the README has the tables of the code', async t => {
  const file = join(import.meta.dirname, '..', '..', '..', 'functions', 'ha', 'README.md')
  const text = await readFile(file, 'utf8')
  const wanted = withTables(text)
  if (text !== wanted && process.env['WRITE_TABLES']) await writeFile(file, wanted)
  t.equal(text, wanted, 'WRITE_TABLES=1 writes them')
})
