// The ConfigMaps that a workload mounts, as files: a change of the object reaches them, as it would by the kubelet.
import { rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ConfigMap, connect } from '../kube/index.ts'
import type { Env } from '../runtime/config.ts'
import { makeRunFolder } from './run-folder.ts'
import type { Workload } from './workload.ts'

export interface Mounted {
  /** The variables of the workload, with paths of this machine. */
  env: Env
  close(): Promise<void>
}

/** Resolves when what there is now is written. */
export async function mountConfigMaps(
  { env, mounts, namespace }: Workload,
  kubeconfig: string,
  onFault: (err: unknown) => void
): Promise<Mounted> {
  if (mounts.length === 0) return { env, close: async () => {} }
  const kube = await connect({ manager: 'drover-local', kubeconfig })
  const stop = new AbortController()
  const folders: string[] = []
  const following: Promise<void>[] = []

  async function follow(name: string, folder: string, written: () => void): Promise<void> {
    const fieldSelector = `metadata.name=${name}`
    for await (const news of kube.watch(ConfigMap, { namespace, fieldSelector, signal: stop.signal })) {
      const found = news.type === 'snapshot' ? news.items[0] : news.object
      await write(folder, news.type === 'deleted' ? {} : (found?.data ?? {}))
      written()
    }
  }

  let local = env
  for (const { path, configMap } of mounts) {
    const folder = await makeRunFolder('c')
    folders.push(folder)
    const { promise, resolve } = Promise.withResolvers<void>()
    following.push(follow(configMap, folder, resolve).catch(onFault).finally(resolve))
    await promise
    const here = (value = ''): string => (value.startsWith(`${path}/`) ? join(folder, value.slice(path.length)) : value)
    local = Object.fromEntries(Object.entries(local).map(([name, value]) => [name, here(value)]))
  }
  return {
    env: local,
    async close() {
      stop.abort()
      await Promise.all(following)
      kube.close()
      for (const folder of folders) await rm(folder, { recursive: true })
    }
  }
}

/** Whole or not at all. What an object no longer has stays: who reads it goes on with what it read last. */
async function write(folder: string, data: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(data)) {
    const file = join(folder, basename(name))
    await writeFile(`${file}.new`, text, { mode: 0o600 })
    await rename(`${file}.new`, file)
  }
}
