import { KubeError } from './errors.ts'

const newline = 0x0a

/** Cuts a byte stream into lines, whatever the chunks. Bytes after the last newline are a broken line and never a value. */
export async function* lines(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string> {
  let begun: Buffer[] = []
  let begunBytes = 0
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      checkLength(begunBytes + end - from, maxBytes)
      const line = Buffer.concat([...begun, chunk.subarray(from, end)]).toString('utf8')
      begun = []
      begunBytes = 0
      from = end + 1
      if (line !== '') yield line
    }
    if (from === chunk.length) continue
    begun.push(chunk.subarray(from))
    begunBytes += chunk.length - from
    checkLength(begunBytes, maxBytes)
  }
  if (begunBytes > 0) throw new KubeError('Malformed', `the stream ended within a line, after ${begunBytes} bytes of it`)
}

function checkLength(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw new KubeError('Malformed', `a line of more than ${maxBytes} bytes`)
}
