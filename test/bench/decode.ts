import { CloudEvent, HTTP } from 'cloudevents'
import { nodeChanged } from '../../shared/events/objects.ts'
import { decode } from '../../shared/runtime/decode.ts'
import { problemIn } from '../../shared/runtime/validate.ts'
import { atLeast, type Figures, type Report } from './lib/figures.ts'
import { alternate } from './lib/statistics.ts'

export const figures: Figures = {
  'decode.speed': { unit: 'events/ms', against: "the SDK's HTTP.toEvent and validate()", goal: atLeast(5) }
}

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

function perMs(run: () => void, times: number): number {
  const start = performance.now()
  for (let i = 0; i < times; i++) run()
  return times / (performance.now() - start)
}

export async function run(report: Report): Promise<void> {
  const ways = { ours: () => perMs(ours, 20_000), peer: () => perMs(peer, 5000) }
  await alternate(1, ways) // warm
  const runs = await alternate(report.rounds(9), ways)
  report('decode.speed', runs.ours, { peer: runs.peer })
}
