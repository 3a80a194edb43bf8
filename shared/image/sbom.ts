// What is in the image, as CycloneDX: npm's own list of packages, and what came from the machine.
import { createHash } from 'node:crypto'
import { readFile, realpath } from 'node:fs/promises'
import { run } from './run.ts'

interface Component {
  type: string
  name: string
  version: string
  'bom-ref': string
  purl?: string
  cpe?: string
  components?: Component[]
}

interface Bom {
  serialNumber: string
  metadata: { timestamp?: string; component: Record<string, unknown> }
  components: Component[]
}

/** All that is installed for running counts, also what the bundler left out: a list that is too long is safe, one that is too short is not. */
export async function bomOf(folder: string, { name, digest, files }: { name: string; digest: string; files: Iterable<string> }) {
  const npm = [
    'sbom',
    '--sbom-format',
    'cyclonedx',
    '--sbom-type',
    'application',
    '--package-lock-only',
    '--omit',
    'dev',
    '--omit',
    'optional'
  ]
  const bom = JSON.parse(await run('npm', [...npm, '--prefix', folder])) as Bom
  delete bom.metadata.timestamp // the same image has the same list, whenever it was written
  bom.serialNumber = `urn:uuid:${uuidOf(digest)}`
  bom.metadata.component['name'] = 'drover'
  bom.metadata.component['properties'] = [{ name: 'drover:image', value: `${name}@${digest}` }]
  bom.components.push(nodeItself(), ...(await packagesOf(files)))
  return `${JSON.stringify(bom, undefined, 2)}\n`
}

function uuidOf(digest: string): string {
  const [, a, b, c, d, e] = /^sha256:(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(digest) ?? []
  return `${a}-${b}-8${c}-8${d}-${e}`
}

function nodeItself(): Component {
  const { node, ...within } = process.versions
  const components = Object.entries(within).map(([name, version]) => {
    return { type: 'library', name, version: version ?? '', 'bom-ref': `node/${name}@${version}` }
  })
  return {
    type: 'platform',
    name: 'node',
    version: node,
    'bom-ref': `node@${node}`,
    purl: `pkg:github/nodejs/node@v${node}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`,
    components
  }
}

/** The packages of Debian that the files are from; a file of no package is listed by itself. */
async function packagesOf(files: Iterable<string>): Promise<Component[]> {
  const found = new Map<string, Component>()
  for (const file of files) {
    const component = (await packageOf(file)) ?? (await fileItself(file))
    found.set(component['bom-ref'], component)
  }
  return [...found.values()].sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1))
}

async function packageOf(file: string): Promise<Component | undefined> {
  const real = await realpath(file)
  for (const path of [real, real.replace(/^\/usr/, '')]) {
    const owner = await run('dpkg-query', ['-S', path]).catch(() => undefined) // no such file in a package, or no dpkg
    if (owner === undefined) continue
    const query = ['-W', '-f', '${Package}\t${Version}\t${Architecture}', owner.slice(0, owner.indexOf(': '))]
    const [name = '', version = '', arch = ''] = (await run('dpkg-query', query)).split('\t')
    const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${arch}`
    return { type: 'library', name, version, 'bom-ref': purl, purl }
  }
  return undefined
}

async function fileItself(file: string): Promise<Component> {
  const sum = createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
  return { type: 'file', name: file, version: sum.slice(0, 12), 'bom-ref': `${file}@${sum}` }
}
