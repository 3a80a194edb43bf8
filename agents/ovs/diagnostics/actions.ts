// Traces and captures: what is started on request.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Captures } from '../capture/captures.ts'
import type { Port } from '../model.ts'
import { ports as portStatistics } from '../wire/openflow-statistics.ts'
import type { CaptureRequest, TraceWish } from './input.ts'
import { Refusal } from './refusal.ts'
import { type Sight, cut, findBridge, findPort, tell } from './views.ts'

export async function runTrace(sight: Sight, { bridge, flow, ctNext = [] }: TraceWish) {
  findBridge(sight, bridge)
  const states = ctNext.length > 0 ? ['--ct-next', ctNext.join(',')] : []
  return cut(await tell(sight, 'ovs-vswitchd', 'ofproto/trace', [bridge, flow, ...states]))
}

const busyPacketsPerSecond = 20_000
const sampledMs = 250

export async function startCapture(
  sight: Sight,
  captures: Captures,
  asked: CaptureRequest,
  user: string,
  mirrorPorts: readonly string[]
) {
  const { bridge, mode = 'headers', seconds = 10, maxBytes = 1024 * 1024, sampling = 64 } = asked
  const { headerBytes = mode === 'mirror' ? 0 : 128 } = asked // OV-62: a mirror copies whole frames unless it is told otherwise
  const { name } = findBridge(sight, bridge)
  const port = asked.port === undefined ? undefined : findPort(sight, asked.port)
  if (port && port.bridge !== name) throw new Refusal(404, `${port.name} is not a port of ${name}`)
  if (sampling === 1 && mode === 'headers') await refuseIfBusy(sight, name)
  const output = mode === 'mirror' ? outputOf(sight, asked, mirrorPorts) : undefined
  if (mode === 'mirror' && !port) throw new Refusal(400, 'a mirror needs the port to be watched')
  if (mode === 'headers' && port && ifindexes(port, asked.port).size === 0)
    throw new Refusal(409, `${asked.port} has no interface index, so that its frames could not be told from those of others`)
  const state = await captures.start({
    mode,
    bridge: name,
    port: port && { name: asked.port ?? port.name, id: port._uuid, ifindexes: ifindexes(port, asked.port) },
    output: output && { name: output.name, id: output._uuid },
    seconds,
    maxBytes,
    headerBytes,
    sampling,
    user
  })
  if (!state) throw new Refusal(409, `a capture runs already, or ${name} has an sFlow of somebody else`)
  return state
}

/** Of one card when a member of a bond was named, else of all that the port has. */
function ifindexes({ name, interfaces }: Port, asked: string | undefined): ReadonlySet<number> {
  const meant = asked === name ? interfaces : interfaces.filter(row => row.name === asked)
  return new Set(meant.flatMap(({ ifindex = 0 }) => (ifindex > 0 ? [ifindex] : []))) // 0 stands for all that have none
}

/** OV-62: only to ports that were allowed beforehand. */
function outputOf(sight: Sight, { outputPort, bridge }: CaptureRequest, allowed: readonly string[]) {
  if (outputPort === undefined) throw new Refusal(400, 'a mirror needs an outputPort')
  if (!allowed.includes(outputPort)) throw new Refusal(400, `${outputPort} is not in MIRROR_PORTS`)
  const port = findPort(sight, outputPort)
  if (port.bridge !== bridge) throw new Refusal(404, `${outputPort} is not a port of ${bridge}`)
  return port
}

/** OV-61: every sampled packet takes the slow path. */
async function refuseIfBusy({ daemons }: Sight, bridge: string): Promise<void> {
  const count = async () => {
    const [counters] = await daemons.statistics(bridge, [portStatistics])
    return counters.reduce((sum, { rxPackets }) => sum + rxPackets, 0n)
  }
  const before = await count()
  await sleep(sampledMs)
  const perSecond = (Number((await count()) - before) * 1000) / sampledMs
  if (perSecond > busyPacketsPerSecond)
    throw new Refusal(400, `${bridge} passes ${Math.round(perSecond)} packets/s: sampling 1 is refused`)
}
