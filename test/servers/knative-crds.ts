// node --conditions=drover test/servers/knative-crds.ts: writes test/fixtures/crds/*.json anew, the definitions that knative/ is checked against.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { download, lean, type Crd } from './crd-source.ts'

const target = join(import.meta.dirname, '../fixtures/crds')
const eventing = ['broker', 'trigger', 'pingsource', 'apiserversource', 'sinkbindings'].map(
  name => `config/core/resources/${name}.yaml`
)
const sources: Record<string, readonly string[]> = {
  'knative.dev/eventing@v0.50.0': eventing,
  'knative.dev/serving@v0.50.0': ['config/core/300-resources/service.yaml'],
  'knative.dev/eventing-rabbitmq@v0.48.0': ['config/broker/300-rabbitmqbrokerconfig.yaml'],
  'github.com/cert-manager/cert-manager@v1.19.0': ['certificates', 'issuers'].map(
    name => `deploy/crds/cert-manager.io_${name}.yaml`
  ),
  'github.com/prometheus-operator/prometheus-operator@v0.88.0': ['podmonitors', 'prometheusrules'].map(
    name => `example/prometheus-operator-crd/monitoring.coreos.com_${name}.yaml`
  ),
  'github.com/external-secrets/external-secrets@v0.17.0': ['externalsecrets', 'secretstores'].map(
    name => `config/crds/bases/external-secrets.io_${name}.yaml`
  )
}

for (const [module, files] of Object.entries(sources)) {
  const folder = await download(module)
  for (const file of files) {
    for (const document of parseAllDocuments(await readFile(join(folder, file), 'utf8'))) {
      const crd = document.toJSON() as (Crd & { spec: { conversion?: unknown } }) | null
      if (crd === null) continue
      delete crd.spec.conversion // a webhook of theirs, which is not there
      await writeFile(join(target, `${crd.metadata.name}.json`), lean(crd))
      console.log(crd.metadata.name)
    }
  }
}
