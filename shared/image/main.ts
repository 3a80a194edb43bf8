// `npm run image`
import { parseArgs } from 'node:util'
import { makeImage, makeRoot, version } from './image.ts'

const help = `npm run image -- [options] [FUNCTION|AGENT…]

Makes the image without a container engine: an OCI archive, and what is in it as CycloneDX beside it. The same sources on the same machine
give the same digest.

  --name NAME:TAG   as the manifests in knative/ call it, if left out
  --to FILE         dist/drover.tar, if left out
  --root DIR        only the file system, into this new folder (for shared/image/Containerfile)`

const { values, positionals: only } = parseArgs({
  allowPositionals: true,
  options: {
    name: { type: 'string', default: `ghcr.io/drover/drover:${await version()}` },
    to: { type: 'string', default: 'dist/drover.tar' },
    root: { type: 'string' },
    help: { type: 'boolean', default: false }
  }
})
const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

if (values.help) console.log(help)
else if (values.root !== undefined) await makeRoot(values.root, only)
else {
  const { digest, bom, bytes, unpackedBytes } = await makeImage({ name: values.name, to: values.to, only })
  console.log(`${values.name}@${digest}\n${values.to}: ${mb(bytes)}, unpacked ${mb(unpackedBytes)}\n${bom}`)
}
