// Drover on Knative itself. One file, since the cluster takes its time to come up: the parts are in the modules beside it.
import t from 'tap'
import { knative } from '../servers/knative.ts'
import { agents } from './agents.ts'
import { functionKilled, refusedForGood, stranger } from './faults.ts'
import { direct, fromZero, traced } from './hosts.ts'
import { admission, everythingReady, functionsOf, restricted } from './installed.ts'
import { rabbitMq } from './losses.ts'
import { ownAccounts } from './rights.ts'
import { enter } from './world.ts'

t.setTimeout(3_600_000)
const world = await enter(t, await knative(t))

await t.test('kubectl apply -k installs all of it', t => everythingReady(t, world))
await t.test('each pod runs under `restricted`', t => restricted(t, world))
await t.test('each pod speaks as its own account', t => ownAccounts(t, world))
await t.test('admission by the reference to a Service', t => admission(t, world))
await t.test('a Node becomes a Hypervisor: the function is woken from zero', t => fromZero(t, world))
await t.test('the trace of an event is in the log of the function', t => traced(t, world))
await t.test('every function answers an event at its own address', async t => direct(t, world, await functionsOf(world)))
await t.test('422: a dead letter at once', t => refusedForGood(t, world))
await t.test('a function is killed in the middle of its work', t => functionKilled(t, world))
await t.test('a stranger posts to the broker and to a function', t => stranger(t, world))
await t.test('agents on a real libvirtd and a real Open vSwitch', t => agents(t, world))
await t.test('RabbitMQ', t => rabbitMq(t, world))
