// node --conditions=drover test/servers/kubevirt-crds.ts: writes shared/local/crds/*.json anew from the sources of KubeVirt, CDI and Multus.
// Descriptions are left out: they are half of the size, and no server reads them.
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse, parseAllDocuments } from 'yaml'
import { download, lean, type Crd } from './crd-source.ts'
import { buildKubevirt } from './kubevirt-build.ts'

const run = promisify(execFile)
const target = join(import.meta.dirname, '../../shared/local/crds')
const cdi = 'kubevirt.io/containerized-data-importer@v1.65.0'
const multus = 'github.com/k8snetworkplumbingwg/network-attachment-definition-client@v1.7.7'

async function kubevirtCrds(): Promise<Crd[]> {
  const { stdout } = await run(join(await buildKubevirt(), 'kubevirt-crds'), [], { maxBuffer: 1 << 26 })
  const wanted = /^(virtualmachines|virtualmachineinstances|virtualmachineinstancemigrations)\.kubevirt\.io$/
  return parseAllDocuments(stdout)
    .map(document => document.toJSON() as Crd | null)
    .filter(crd => crd !== null)
    .filter(({ metadata }) => wanted.test(metadata.name))
}

/** CDI keeps its CRDs as Go strings, glued where a back-quote occurs. */
async function cdiCrds(): Promise<Crd[]> {
  const text = await readFile(join(await download(cdi), 'pkg/operator/resources/crds_generated.go'), 'utf8')
  const strings = [...text.matchAll(/"(\w+)":\s*((?:`[^`]*`|"`"|\s|\+)+),/g)]
  const source = strings.find(([, name]) => name === 'datavolume')?.[2] ?? ''
  return [
    parse(
      source
        .replaceAll(/`\s*\+\s*"`"\s*\+\s*`/g, '`')
        .replace(/^\s*`/, '')
        .replace(/`\s*$/, '')
    ) as Crd
  ]
}

async function multusCrds(): Promise<Crd[]> {
  return [parse(await readFile(join(await download(multus), 'artifacts/networks-crd.yaml'), 'utf8')) as Crd]
}

for (const crd of [...(await kubevirtCrds()), ...(await cdiCrds()), ...(await multusCrds())]) {
  await writeFile(join(target, `${crd.metadata.name}.json`), lean(crd))
  console.log(crd.metadata.name)
}
