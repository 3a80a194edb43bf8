// Services sometimes quote what they were sent. Their words pass through here before they reach an error.

export interface Secrets {
  keep(secret: string | undefined): void
  /** forgets a token that has ended, so that the list stays short */
  drop(secret: string): void
  scrub: (text: string) => string
}

/** As it is, and as it is written within JSON or an address. */
const formsOf = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret.toWellFormed())
]

export function createSecrets(): Secrets {
  const known = new Set<string>()
  return {
    keep(secret) {
      if (secret) for (const form of formsOf(secret)) known.add(form)
    },
    drop(secret) {
      for (const form of formsOf(secret)) known.delete(form)
    },
    scrub(text) {
      let clean = text
      for (const secret of known) clean = clean.replaceAll(secret, '[secret]')
      return clean
    }
  }
}
