// An Event is one stored object with two faces: v1 (as stored) and events.k8s.io/v1. Only names of fields differ.
import type { Fields } from './object.ts'

const names: Array<[core: string, events: string]> = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount']
]

function rename(object: Fields, to: Map<string, string>): Fields {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [to.get(key) ?? key, value]))
}

const toEvents = new Map(names)
const toCore = new Map(names.map(([core, events]) => [events, core]))

export const eventConversion = {
  read: (object: Fields): Fields => rename(object, toEvents),
  write: (object: Fields): Fields => ({ ...rename(object, toCore), apiVersion: 'v1' })
}
