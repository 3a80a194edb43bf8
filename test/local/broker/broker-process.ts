// A broker as a process of its own, to be killed or measured: broker-process.ts SINK_URL [STATE_FILE]. Tells its ingress over IPC.
import { DatabaseSync } from 'node:sqlite'
import { startBroker } from '../../../shared/local/broker/index.ts'
import { broker, trigger } from './manifests.ts'

const [sinkUrl, file] = process.argv.slice(2)
let state: DatabaseSync | undefined
if (file) {
  state = new DatabaseSync(file)
  state.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
}
const manifests = [broker('b'), trigger('t', { subscriber: { uri: sinkUrl } })]
const running = await startBroker({ manifests, resolve: () => undefined, ...(state && { state }) })
process.send!(running.ingress('test', 'b'))
process.on('disconnect', () => process.exit())
