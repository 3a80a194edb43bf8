import { Type, type Static } from 'typebox'
import { Duration } from './config-field.ts'

/** What every function's process can be told, whatever the function. */
export const RuntimeConfig = Type.Object({
  port: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080 }),
  host: Type.String({ default: '::' }),
  /** A second port, over TLS, for the function's routes alone. */
  tlsPort: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
  tlsDir: Type.String({ default: '/etc/drover/tls' }),
  tlsRenew: Duration({ default: '1m' }),
  maxBodyBytes: Type.Integer({ minimum: 1, default: 1_048_576 }),
  grace: Duration({ default: '10s' }),
  logLevel: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], { default: 'info' }),
  kSink: Type.Optional(Type.String({ pattern: '^https?://' })),
  emitTimeout: Duration({ default: '2m' })
})
export type RuntimeConfig = Readonly<Static<typeof RuntimeConfig>>
