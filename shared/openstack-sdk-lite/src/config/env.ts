// OS_* variables, as every OpenStack client reads them, from an object that the caller gives.
import type { ConnectOptions } from '../connect.ts'
import { type Settings, toOptions } from './settings.ts'

export type Env = Readonly<Record<string, string | undefined>>

export function fromEnv(env: Env): ConnectOptions {
  const settings: Settings = {}
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith('OS_') && value) settings[name.slice(3).toLowerCase()] = value
  }
  return toOptions(settings, name => `OS_${name.toUpperCase()}`)
}
