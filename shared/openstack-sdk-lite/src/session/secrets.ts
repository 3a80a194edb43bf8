// Services sometimes quote what they were sent. Their words pass through here before they reach an error.

export interface Secrets {
  keep(secret: string | undefined): void
  /** forgets a token that has ended, so that the list stays short */
  drop(secret: string): void
  scrub: (text: string) => string
}

export function createSecrets(): Secrets {
  const known = new Set<string>()
  return {
    keep(secret) {
      if (secret) known.add(secret)
    },
    drop(secret) {
      known.delete(secret)
    },
    scrub(text) {
      let clean = text
      for (const secret of known) clean = clean.replaceAll(secret, '[secret]')
      return clean
    }
  }
}
