import type { Bus, Target } from './bus.ts'

const manager: Target = {
  service: 'org.freedesktop.login1',
  path: '/org/freedesktop/login1',
  interface: 'org.freedesktop.login1.Manager'
}

export interface Logind {
  /** The longest that a delay lock can hold back a shutdown: 5 s unless somebody raised it. */
  maxDelaySeconds: number
}

export async function logind(bus: Bus, shutdown: (coming: boolean) => void): Promise<Logind> {
  await bus.listen(`type='signal',interface='${manager.interface}',member='PrepareForShutdown'`, ({ body = [] }) =>
    shutdown(body[0] === true)
  )
  const microseconds = await bus.call({ ...manager, interface: 'org.freedesktop.DBus.Properties' }, 'Get', 'ss', [
    manager.interface,
    'InhibitDelayMaxUSec'
  ])
  return { maxDelaySeconds: Math.floor(Number(microseconds) / 1e6) }
}
