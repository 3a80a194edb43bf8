// Which of Nova's hosts a Hypervisor object stands for (HV-28, HV-29). Pure: decide files import this.

interface Named {
  metadata: { name: string; labels?: Record<string, string> | undefined }
  status?: { nova?: { host?: string | undefined } | undefined; hypervisorId?: string | undefined } | undefined
}

interface Listed {
  id: string
  hostname: string
  service: { id: string; host: string }
}

const hostnameLabel = 'kubernetes.io/hostname'

/** The names under which Nova may know the host: as it is labelled, and in each configured form, as `{name}.example.com`. */
export function namesOf({ metadata }: Named, forms: readonly string[] = []): string[] {
  const name = metadata.labels?.[hostnameLabel] ?? metadata.name
  return [...new Set([name, ...forms.map(form => form.replaceAll('{name}', name))])]
}

export type Match<H> = { found: H } | { found?: undefined; reason: 'NotRegistered' | 'AmbiguousHost'; candidates: H[] }

/** HV-28: by equality, never by a part of the name; exactly one must remain. */
export function matchHost<H extends Listed>(listed: readonly H[], names: readonly string[]): Match<H> {
  const candidates = listed.filter(({ hostname, service }) => names.includes(hostname) || names.includes(service.host))
  const [found, ...others] = candidates
  if (found && others.length === 0) return { found }
  return { reason: found ? 'AmbiguousHost' : 'NotRegistered', candidates }
}

/** The name by which Nova places servers on the host, as onboarding recorded it. Never cut, never guessed. */
export const novaHost = ({ status }: Named): string | undefined => status?.nova?.host
