// What each account may do, as a table.
import type { Manifest, Rule } from './manifests.ts'

const ofRule = ({ apiGroups, resources, resourceNames, verbs }: Rule): string => {
  const things = apiGroups.flatMap(group => resources.map(resource => (group === '' ? resource : `${resource}.${group}`)))
  const which = resourceNames === undefined ? '' : ` named ${resourceNames.join(', ')}`
  return `${verbs.join(', ')} ${things.join(', ')}${which}`
}

export function roleTable(all: readonly Manifest[]): string {
  const rows = all
    .filter(({ kind }) => kind.endsWith('RoleBinding'))
    .flatMap(({ roleRef, metadata, subjects = [] }) =>
      subjects.map(({ name }) => {
        const role = all.find(
          one =>
            one.kind === roleRef?.kind &&
            one.metadata.name === roleRef.name &&
            (one.kind === 'ClusterRole' || one.metadata.namespace === metadata.namespace)
        )
        return { name, where: metadata.namespace ?? 'all', may: (role?.rules ?? []).map(ofRule).join('; ') }
      })
    )
    .sort((a, b) => (a.name === b.name ? a.where.localeCompare(b.where) : a.name.localeCompare(b.name)))
  return [
    '| account | in | may |',
    '|---|---|---|',
    ...rows.map(({ name, where, may }) => `| ${name} | ${where} | ${may} |`)
  ].join('\n')
}
