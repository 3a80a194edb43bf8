export interface Credentials {
  readonly username: string
  readonly password: string
}

/** The client's half of one SASL exchange. Throws if the server's half is not what it should be. */
export interface Exchange {
  /** What is sent with the mechanism's name. */
  readonly first: Buffer<ArrayBuffer>
  /** The answer to a challenge. */
  readonly next: (challenge: Buffer) => Buffer<ArrayBuffer>
  /** The server said "complete": has it proved itself, as far as the mechanism asks it to? */
  readonly done: () => boolean
}

export interface Mechanism {
  readonly name: string
  readonly start: (credentials: Credentials) => Exchange
}
