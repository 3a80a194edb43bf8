// A simulated fleet with its control door.
import { openDoor, type Door } from './door.ts'
import { startFleet, type Fleet, type FleetOptions } from './fleet.ts'

export interface SimulatedFleet {
  fleet: Fleet
  door: Door
  close(): Promise<void>
}

export async function startSimulatedFleet(options: FleetOptions): Promise<SimulatedFleet> {
  const fleet = await startFleet(options)
  const door = await openDoor(fleet, options.kubeconfig)
  return {
    fleet,
    door,
    async close() {
      await door.close()
      await fleet.close()
    }
  }
}
