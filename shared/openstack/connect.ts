// The client of a function: told by its configuration, counted and logged. Nothing is asked of OpenStack before the first call.
import { readFile } from 'node:fs/promises'
import { connect, fromCloudsYaml, fromEnv, type CallReport, type Cloud, type ConnectOptions } from 'openstack-sdk-lite'
import type { Platform } from '../runtime/function.ts'
import { toEnv, type OpenStackConfig } from './config.ts'
import { attempt } from './failure.ts'
import { openStackMetrics } from './metrics.ts'

export type { Cloud } from 'openstack-sdk-lite'

/** Names the function in the services' logs. */
export async function openCloud(
  config: OpenStackConfig,
  { log, metrics, onClose }: Pick<Platform, 'log' | 'metrics' | 'onClose'>,
  userAgent = 'drover'
): Promise<Cloud> {
  const count = openStackMetrics(metrics)
  const onCall = (report: CallReport): void => {
    count(report)
    tell(log, report)
  }
  const cloud = await connect({ ...(await optionsOf(config)), userAgent, onCall })
  onClose(() => cloud.close())
  return cloud
}

/** HV-30: an OpenStack that is too old is told at the start, with the call that it cannot do. One that is away is told by whoever needs it. */
export async function tellUnsupported(cloud: Pick<Cloud, 'check'>, log: Platform['log']): Promise<void> {
  const checked = await attempt(() => cloud.check())
  if (checked.ok) return
  const { code, words } = checked.failure
  if (code === 'VersionUnsupported') log.error({ code, words }, 'this OpenStack is too old')
  else log.debug({ code, words }, 'not known yet whether this OpenStack is new enough')
}

const changes = ({ method, service }: Pick<CallReport, 'method' | 'service'>): boolean =>
  method !== 'GET' && service !== 'identity'

async function optionsOf(config: OpenStackConfig): Promise<ConnectOptions> {
  const { osClientConfigFile, osClientSecureFile, osCloud } = config
  if (osClientConfigFile === undefined) return fromEnv(toEnv(config))
  const secure = osClientSecureFile === undefined ? undefined : await readFile(osClientSecureFile, 'utf8')
  return fromCloudsYaml(await readFile(osClientConfigFile, 'utf8'), osCloud, secure)
}

/**
 * What changes something is always told, with its ids (HV-67). What a service refuses may be expected (a conflict, a host not there yet):
 * the caller judges, so it is no more than information here.
 */
function tell(log: Platform['log'], { error, ...report }: CallReport): void {
  if (error === undefined) log[changes(report) ? 'info' : 'debug'](report, 'asked OpenStack')
  else log.info({ ...report, code: error.code, words: error.message }, 'OpenStack did not do as asked')
}
