// An OCI image layout in a tar, as `ctr images import`, `podman load` and `skopeo copy oci-archive:` take it.
import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { run } from './run.ts'

const media = 'application/vnd.oci.image'
const zip = promisify(gzip)
// Nothing of the machine, the user or the hour: two images of the same files are the same to the bit.
const exact = ['--sort=name', '--format=gnu', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX']
const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

interface Descriptor {
  mediaType: string
  digest: string
  size: number
}

export interface ImageConfig {
  User: string
  Env: string[]
  Entrypoint: string[]
  WorkingDir: string
  Labels: Record<string, string>
}

export interface Packed {
  digest: string
  size: number
}

/** `layers`: for each the entries of `root` that it holds, those that change least first. */
export async function packImage(
  root: string,
  layers: ReadonlyArray<readonly string[]>,
  { name, config, to }: { name: string; config: ImageConfig; to: string }
): Promise<Packed> {
  const work = `${to}.work`
  const blobs = join(work, 'oci/blobs/sha256')
  await mkdir(blobs, { recursive: true })
  const store = async (mediaType: string, bytes: Uint8Array): Promise<Descriptor> => {
    const digest = digestOf(bytes)
    await writeFile(join(blobs, digest.slice('sha256:'.length)), bytes)
    return { mediaType, digest, size: bytes.length }
  }
  const storeJson = (mediaType: string, value: object) => store(mediaType, Buffer.from(JSON.stringify(value)))

  const stored: Descriptor[] = []
  const contents: string[] = []
  for (const entries of layers) {
    await run('tar', ['-C', root, ...exact, '-cf', join(work, 'layer'), ...entries])
    const bytes = await readFile(join(work, 'layer'))
    contents.push(digestOf(bytes))
    stored.push(await store(`${media}.layer.v1.tar+gzip`, await zip(bytes)))
  }
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const about = {
    created: '1970-01-01T00:00:00Z',
    architecture,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: contents }
  }
  const manifest = await storeJson(`${media}.manifest.v1+json`, {
    schemaVersion: 2,
    mediaType: `${media}.manifest.v1+json`,
    config: await storeJson(`${media}.config.v1+json`, about),
    layers: stored
  })
  const annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name.split(':').at(-1) }
  const index = { schemaVersion: 2, mediaType: `${media}.index.v1+json`, manifests: [{ ...manifest, annotations }] }
  await writeFile(join(work, 'oci/index.json'), JSON.stringify(index))
  await writeFile(join(work, 'oci/oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  await run('tar', ['-C', join(work, 'oci'), ...exact, '-cf', to, '.'])
  await rm(work, { recursive: true })
  return { digest: manifest.digest, size: (await stat(to)).size }
}
