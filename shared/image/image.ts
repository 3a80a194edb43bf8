// One image for all functions and agents: the first argument chooses.
import { copyFile, glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bundle, programName } from '../runtime/bundle.ts'
import { cacheEnv, fillCache } from './compile-cache.ts'
import { packImage, type ImageConfig } from './layout.ts'
import { copyMachine, machineFiles, user, writeEtc } from './machine.ts'
import { run } from './run.ts'
import { bomOf } from './sbom.ts'

const repository = join(import.meta.dirname, '../..')

export interface ImageOptions {
  name: string
  /** The archive; the list of what is in it is written beside it. */
  to: string
  /** All functions and agents when left out. */
  only?: readonly string[]
}

export interface Image {
  digest: string
  bom: string
  bytes: number
  unpackedBytes: number
}

export const version = async (): Promise<string> =>
  (JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as { version: string }).version

const configOf = (tag: string): ImageConfig => ({
  User: `${user}:${user}`,
  Env: Object.entries({ PATH: '/usr/local/bin:/usr/bin', ...cacheEnv('/app/.cache') }).map(([key, value]) => `${key}=${value}`),
  Entrypoint: ['/usr/local/bin/node', '/app/drover.js'],
  WorkingDir: '/',
  Labels: {
    'org.opencontainers.image.title': 'drover',
    'org.opencontainers.image.version': tag,
    'org.opencontainers.image.licenses': 'Apache-2.0'
  }
})

/** The whole file system of the image; gives the files that came from the machine. */
export async function makeRoot(root: string, only: readonly string[] = []): Promise<string[]> {
  const files = await machineFiles()
  await copyMachine(files, root)
  await writeEtc(root)
  const app = join(root, 'app')
  await mkdir(app)
  await copyFile(join(import.meta.dirname, 'entry.js'), join(app, 'drover.js'))
  await writeFile(join(app, 'package.json'), '{"type":"module"}\n') // or Node would have to find out, at each start
  const all = (await Array.fromAsync(glob('{functions,agents}/*/main.ts', { cwd: repository }))).sort()
  const entries = all.filter(entry => only.length === 0 || only.includes(programName(entry)))
  for (const entry of entries) await bundle(join(repository, entry), app)
  await fillCache(app, entries.map(programName))
  return [...files.values()].filter(file => file !== process.execPath)
}

export async function makeImage({ name, to, only }: ImageOptions): Promise<Image> {
  const root = await mkdtemp(join(tmpdir(), 'image-'))
  try {
    const files = await makeRoot(root, only)
    await mkdir(dirname(to), { recursive: true })
    // what changes with each version of Drover comes last, so that the rest is fetched once
    const layers = [['etc', 'lib', 'lib64', 'usr'], ['app']]
    const { digest, size } = await packImage(root, layers, { name, config: configOf(await version()), to })
    const bom = to.replace(/(\.tar)?$/, '.cdx.json')
    await writeFile(bom, await bomOf(repository, { name, digest, files }))
    const unpackedBytes = Number((await run('du', ['-s', '--block-size=1', root])).split('\t')[0])
    return { digest, bom, bytes: size, unpackedBytes }
  } finally {
    await rm(root, { recursive: true })
  }
}
