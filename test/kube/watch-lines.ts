// What an API server says to a watch, for scripted().
import { json, type Answer } from './scripted.ts'

export const object = (name: string, resourceVersion: number, note = 'ü') => ({
  metadata: { name, resourceVersion: String(resourceVersion), annotations: { note } }
})
export const listed = (resourceVersion: number, ...items: object[]): Answer =>
  json(200, { metadata: { resourceVersion: String(resourceVersion) }, items })
export const line = (type: string, name: string, version: number): string =>
  `${JSON.stringify({ type, object: object(name, version) })}\n`
