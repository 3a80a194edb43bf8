// What Nova lets into POST /servers/{server}/action, by microversion (nova/api/openstack/compute/schemas and the controllers beside it).
import { booleans, type Schema } from '../http/schema.ts'

const text: Schema = { type: ['string'], minLength: 1, maxLength: 255 }
const textOrNull: Schema = { ...text, type: ['string', 'null'] }
const empty: Schema = { type: ['null'] }
const only = (name: string, inner: Schema): Schema => ({ properties: { [name]: inner }, required: [name] })

const schemas: Readonly<Record<string, (version: number) => Schema>> = {
  'os-migrateLive'(version) {
    const old = version < 25
    const overCommit = old ? { disk_over_commit: { enum: booleans } } : {}
    const force = version >= 30 && version < 68 ? { force: { enum: booleans } } : {}
    const block = { enum: old ? booleans : [...booleans, 'auto'] }
    return {
      properties: { block_migration: block, host: textOrNull, ...overCommit, ...force },
      required: ['block_migration', ...Object.keys(overCommit), 'host']
    }
  },
  migrate: version => (version < 56 ? {} : { type: ['object', 'null'], properties: { host: textOrNull } }),
  evacuate(version) {
    const shared = version < 14 ? { onSharedStorage: { enum: booleans } } : {}
    const force = version >= 29 && version < 68 ? { force: { enum: booleans } } : {}
    return { properties: { host: text, adminPass: { type: ['string'] }, ...shared, ...force }, required: Object.keys(shared) }
  },
  'os-resetState': () => ({ properties: { state: { type: ['string'], enum: ['active', 'error'] } }, required: ['state'] }),
  'os-getConsoleOutput': () => ({ properties: { length: { type: ['integer', 'string', 'null'] } } }),
  reboot: () => ({
    properties: { type: { type: ['string'], enum: ['HARD', 'Hard', 'hard', 'SOFT', 'Soft', 'soft'] } },
    required: ['type']
  }),
  lock: version => (version < 73 ? {} : { type: ['object', 'null'], properties: { locked_reason: text } }),
  force_complete: () => empty
}

/** The whole body of an action: one key, and what it takes. */
export const actionSchema = (name: string, version: number): Schema => only(name, schemas[name]?.(version) ?? {})
