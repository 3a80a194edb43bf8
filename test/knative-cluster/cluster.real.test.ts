// Drover on Knative itself. One file, since the cluster takes its time to come up: the parts are in the modules beside it.
import t from 'tap'
import { knative } from '../servers/knative.ts'
import { startLab } from './agents.ts'
import { apiContract } from './api-contract.ts'
import { brokerContract } from './broker-contract.ts'
import { endToEnd } from './end-to-end.ts'
import { apiServerRestarted, certificateRotated, stranger } from './faults.ts'
import { apiServerSource, direct } from './hosts.ts'
import { admission, everythingReady, restricted } from './installed.ts'
import { uninstalled, upgraded } from './life.ts'
import { inMemory } from './losses.ts'
import { sinkAway } from './outage.ts'
import { rabbitMq } from './rabbitmq.ts'
import { nothingRefused, ownAccounts } from './rights.ts'
import { enter } from './world.ts'

t.setTimeout(3_600_000)
const [cluster, lab] = await Promise.all([knative(t), startLab(t)])
const world = await enter(t, cluster)

await t.test('kubectl apply -k installs all of it', t => everythingReady(t, world))
await t.test('each pod runs under `restricted`', t => restricted(t, world))
await t.test('each pod speaks as its own account', t => ownAccounts(t, world))
await t.test('admission by the reference to a Service', t => admission(t, world))
await t.test('in memory: end to end', t => endToEnd(t, world, lab))
await t.test('every function answers an event at its own address', t => direct(t, world))
await t.test('a stranger posts to the broker and to a function', t => stranger(t, world))
await t.test('the broker is away: the agent keeps what it has to tell', t => sinkAway(t, world, lab))
await t.test('the contract of the local broker', t => brokerContract(t, world))
// the dispatcher that comes after it waits a minute for the old one's lease before it takes new Triggers: what follows needs none
await t.test('in memory: dispatcher and filter are killed under load', t => inMemory(t, world))
await t.test('the contract of the embedded API', t => apiContract(t, world))
await t.test('the certificate of the webhook is rotated', t => certificateRotated(t, world))
await t.test('a new version while hosts come in', t => upgraded(t, world))
await t.test('ApiServerSource in place of the cluster agent', t => apiServerSource(t, world))
let moved = world
await t.test('RabbitMQ', async t => {
  moved = await rabbitMq(t, world, lab)
})
await t.test('nobody was refused anything in all this', t => nothingRefused(t, world))
// after that: an API server that has just started refuses everybody until it has read the roles
await t.test('the API server is restarted', t => apiServerRestarted(t, moved))
await t.test('kubectl delete -k leaves the objects alone', t => uninstalled(t, world))
