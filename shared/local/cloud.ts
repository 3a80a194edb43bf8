// The OpenStack that functions find: one inside this process, unless the user names a real one.
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { OpenStackConfig, toEnv } from '../openstack/config.ts'
import { readConfig, type Env } from '../runtime/config.ts'
import { startOpenStack, type FakeOpenStack } from './openstack/index.ts'

export interface LocalCloud {
  /** In words, for people. */
  name: string
  env: Env
  /** Absent when the cloud is a real one. */
  fake?: FakeOpenStack
  close(): Promise<void>
}

/** What the fake was asked is kept for tests; here it would grow for ever. */
const forgetEveryMs = 10_000

export async function openCloud(name: string | undefined): Promise<LocalCloud> {
  if (name !== undefined) return { name, env: realCloud(name), close: async () => {} }
  const fake = await startOpenStack()
  const timer = setInterval(() => fake.forget(), forgetEveryMs).unref()
  const { authUrl, account } = fake
  return {
    name: `embedded, ${authUrl}`,
    fake,
    env: {
      OS_AUTH_URL: authUrl,
      OS_USERNAME: account.user,
      OS_PASSWORD: account.password,
      OS_PROJECT_NAME: 'admin',
      OS_USER_DOMAIN_NAME: 'Default',
      OS_PROJECT_DOMAIN_NAME: 'Default',
      OS_REGION_NAME: 'RegionOne'
    },
    async close() {
      clearInterval(timer)
      await fake.close()
    }
  }
}

// Never by the mere presence of OS_* in somebody's shell: Drover disables services and moves servers.
function realCloud(name: string): Env {
  const given = toEnv(readConfig(OpenStackConfig))
  if (name === 'env') {
    if (given.OS_AUTH_URL === undefined) throw new Error('--os-cloud env: OS_AUTH_URL is not in the environment')
    return given
  }
  const places = [
    given.OS_CLIENT_CONFIG_FILE,
    'clouds.yaml',
    join(homedir(), '.config/openstack/clouds.yaml'),
    '/etc/openstack/clouds.yaml'
  ]
  const file = places.find(place => place !== undefined && existsSync(place))
  if (file === undefined)
    throw new Error(
      `--os-cloud ${name}: there is no clouds.yaml here nor in ~/.config/openstack; name it with OS_CLIENT_CONFIG_FILE`
    )
  return { OS_CLOUD: name, OS_CLIENT_CONFIG_FILE: file }
}
