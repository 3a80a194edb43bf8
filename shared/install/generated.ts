import { stringify } from 'yaml'
import { apiserverTriggers } from './apiserver-triggers.ts'
import { callTable } from './calls.ts'
import { rightsPatches, targetPatches, withoutFunctions, withoutObjects } from './clusters.ts'
import { header, type Manifest } from './manifests.ts'
import { roleTable } from './roles.ts'

const documents = (objects: readonly object[]): string =>
  header + objects.map(object => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n')

/** A Component of patches, to be named in another's `components`. */
const patches = (list: readonly object[]): string =>
  documents([{ apiVersion: 'kustomize.config.k8s.io/v1alpha1', kind: 'Component', patches: list }])

const between = (text: string, name: string, content: string): string =>
  text.replace(
    new RegExp(`(<!-- ${name}: npm run docs -->\n)[^]*?(\n<!-- /${name} -->)`),
    (_, open: string, close: string) => open + content + close
  )

/** Every file that is written from the manifests, by its path in knative/. */
export async function generated(
  all: readonly Manifest[],
  read: (file: string) => Promise<string>
): Promise<Record<string, string>> {
  const readme = await read('README.md')
  return {
    'components/apiserversource/triggers.yaml': documents(apiserverTriggers(all)),
    'components/control-plane/without.yaml': documents(withoutObjects(all)),
    'components/control-plane/target/kustomization.yaml': patches(targetPatches(all)),
    'components/hypervisor-cluster/without.yaml': documents(withoutFunctions(all)),
    'components/hypervisor-cluster/rights/kustomization.yaml': patches(rightsPatches(all)),
    'README.md': between(between(readme, 'roles', roleTable(all)), 'calls', callTable(all))
  }
}
