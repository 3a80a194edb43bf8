// ovsdb-client/server: the parts of the protocol that a server needs too, for simulators and tests
export { type JsonObject, isObject, parseJson } from './json.ts'
export { JsonStream } from './json-stream.ts'
export { type Incoming, readMessage, writeError, writeRequest, writeResult } from './message.ts'
export { type Value, encodeValue, uuid, zeroUuid } from './notation.ts'
