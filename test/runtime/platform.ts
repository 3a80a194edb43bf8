import { Registry } from 'prom-client'
import type { Platform } from '../../shared/runtime/function.ts'
import { createLog } from '../../shared/runtime/log.ts'
import type { EventRequest } from '../../shared/runtime/receive.ts'

/** A platform whose log can be read; nothing can be emitted from it. */
export function testPlatform(): Platform & { lines: () => Record<string, unknown>[]; text: () => string } {
  const written: string[] = []
  return {
    log: createLog({ name: 'test', level: 'trace', to: { write: line => void written.push(line) } }),
    clock: () => new Date('2026-11-16T12:00:00Z'),
    emit: () => Promise.reject(new Error('not expected')),
    metrics: new Registry(),
    signal: new AbortController().signal,
    onClose: () => {},
    lines: () => written.map(line => JSON.parse(line) as Record<string, unknown>),
    text: () => written.join('')
  }
}

export const eventHeaders = (type: string, attributes: Record<string, string> = {}): Record<string, string> => ({
  'content-type': 'application/json',
  'ce-specversion': '1.0',
  'ce-id': 'e1',
  'ce-source': '/test',
  'ce-type': type,
  ...Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value]))
})

export const eventRequest = (type: string, data: unknown, attributes: Record<string, string> = {}): EventRequest => ({
  headers: eventHeaders(type, attributes),
  body: Buffer.from(JSON.stringify(data))
})
