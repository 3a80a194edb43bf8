import http from 'node:http'
import type { Plugin } from 'rolldown'

const id = '\0lean-http'
// WebSocket and its events are getters that load the whole of Node's built-in undici.
const names = Object.entries(Object.getOwnPropertyDescriptors(http)).flatMap(([name, { value }]) =>
  value === undefined ? [] : [name]
)
const code = `const http = process.getBuiltinModule('node:http')
export default http
export const { ${names.join(', ')} } = http`

/**
 * An `import` of node:http, of whatever from it, reads all its properties, the lazy ones too: 10 ms and 5 MB of a cold start
 * for a WebSocket that nobody asked for. A bundle takes the same functions without asking for that one.
 */
export const leanHttp: Plugin = {
  name: 'lean-http',
  resolveId(source, _importer, { kind }) {
    return kind === 'import-statement' && /^(?:node:)?http$/.test(source) ? id : undefined
  },
  load: wanted => (wanted === id ? code : undefined)
}
