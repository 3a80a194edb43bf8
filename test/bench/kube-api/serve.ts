// The embedded API in a process of its own, so that its memory is its own too. Tells where it is, then its RSS whenever asked.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { startKubeApi } from '../../../shared/local/kube-api/index.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'crds')
const files = (await readdir(folder)).filter(name => name.endsWith('.yaml') && name !== 'kustomization.yaml')
const crds = await Promise.all(files.map(async name => parse(await readFile(join(folder, name), 'utf8')) as object))
const { url, token, ca } = await startKubeApi({ objects: crds })
process.on('message', () => {
  globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  process.send?.({ rss, heap: heapUsed + external })
})
process.on('disconnect', () => process.exit())
process.send?.({ url, token, ca })
