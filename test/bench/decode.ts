import { CloudEvent, HTTP } from 'cloudevents'
import { nodeChanged } from '../../shared/events/objects.ts'
import { decode } from '../../shared/runtime/decode.ts'
import { problemIn } from '../../shared/runtime/validate.ts'
import { median, type Report } from './report.ts'

export const name = 'decode'

const data = {
  apiVersion: 'v1',
  kind: 'Node',
  name: 'node-17',
  uid: '7d1f0c1e-4f0e-4c6e-9a38-1c7d5c0b9d11',
  resourceVersion: '48213'
}
const body = Buffer.from(JSON.stringify(data))
// As a broker delivers it to a function.
const headers = {
  host: 'hypervisor.drover.svc.cluster.local',
  'content-type': 'application/json',
  'content-length': String(body.length),
  'ce-specversion': '1.0',
  'ce-id': 'b1fe9535-2741-4d10-8eb0-881b4cd37bbf',
  'ce-type': nodeChanged.type,
  'ce-source': '/cluster-agent',
  'ce-subject': 'node-17',
  'ce-time': '2026-11-16T04:56:11.681228569Z',
  'ce-changed': 'labels,annotations',
  'ce-partitionkey': 'node-17',
  'ce-sequence': '48213',
  'ce-namespace': '',
  'ce-knativearrivaltime': '2026-11-16T04:56:11.69136554Z',
  'kn-namespace': 'drover',
  prefer: 'reply'
}

function ours(): void {
  const [event] = decode(headers, body)
  if (!event || problemIn(nodeChanged.data, event.data) !== undefined) throw new Error('the event should be valid')
}

// The SDK takes the body as text, as a server with a text parser hands it over.
function peer(): void {
  const event = HTTP.toEvent({ headers, body: body.toString() })
  if (!(event instanceof CloudEvent) || !event.validate()) throw new Error('the event should be valid')
}

function microseconds(run: () => void, times: number): number {
  const start = performance.now()
  for (let i = 0; i < times; i++) run()
  return ((performance.now() - start) * 1000) / times
}

/** Microseconds an event, medians of alternating rounds after one to warm up. */
export async function run(report: Report): Promise<void> {
  microseconds(ours, 20_000)
  microseconds(peer, 5000)
  const rounds = Array.from({ length: 9 }, () => ({ ours: microseconds(ours, 20_000), peer: microseconds(peer, 5000) }))
  const ourTime = median(rounds.map(round => round.ours))
  const peerTime = median(rounds.map(round => round.peer))
  report({ name: 'decode.speed', ours: 1000 / ourTime, peer: 1000 / peerTime, goal: { atLeast: 5 }, unit: 'events/ms' })
}
