// A sink that does nothing, as a process of its own. Over IPC: its URL first; then, for each count that it is sent, the nanoseconds that
// so many events took from `ce-sent` until here.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let expected = Infinity
let latencies: number[] = []

const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
  latencies.push(Number(process.hrtime.bigint() - BigInt(String(req.headers['ce-sent']))))
  req.resume()
  res.writeHead(202, { 'content-length': 0 }).end()
  tellWhenDone()
})

function tellWhenDone(): void {
  if (latencies.length < expected) return
  process.send!(latencies)
  latencies = []
  expected = Infinity
}

process.on('message', (count: number) => {
  expected = count
  tellWhenDone()
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send!(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
