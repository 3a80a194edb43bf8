// What the subscriber gets (knative.md §3.2): which headers are added, passed on, dropped.
import type { Event } from './event.ts'
import type { Headers, Request } from './types.ts'

export type Format = 'binary' | 'json'

const PASSED = /^(traceparent|tracestate|x-request-id|x-b3-.+|knative-.+)$/

/** Of the sender's headers, those that go on to the subscriber. */
export function passedOn(headers: Headers): Headers {
  const passed: Headers = {}
  for (const name in headers) if (PASSED.test(name)) passed[name] = headers[name]!
  return passed
}

export function toRequest(event: Event, extra: Headers, format: Format, path: string): Request {
  return format === 'json' ? structured(event, extra, path) : binary(event, extra, path)
}

function binary({ attributes, body }: Event, extra: Headers, path: string): Request {
  const headers: Headers = { ...extra }
  for (const name in attributes) headers[name === 'datacontenttype' ? 'content-type' : `ce-${name}`] = attributes[name]!
  return { path, headers, body }
}

function structured({ attributes, body }: Event, extra: Headers, path: string): Request {
  const json = /[/+]json\s*(;|$)/i.test(attributes.datacontenttype ?? '')
  const data = body.length === 0 ? {} : json ? { data: tryJson(body) } : { data_base64: body.toString('base64') }
  return {
    path,
    headers: { ...extra, 'content-type': 'application/cloudevents+json' },
    body: Buffer.from(JSON.stringify({ ...attributes, ...data }))
  }
}

function tryJson(body: Buffer): unknown {
  const text = body.toString()
  try {
    return JSON.parse(text)
  } catch {
    return text // the sender's type says JSON, its data does not: passed on as it is
  }
}
