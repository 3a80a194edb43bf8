// sFlow version 5 datagrams (sflow.org, sflow_version_5.txt), as far as Open vSwitch sends them: flow samples with the head of a frame.

export interface Sample {
  /** Interface.ifindex of the port it came in by; 0 when it is not known. */
  readonly input: number
  /** Of the one port it went out by; undefined for several or none. */
  readonly output: number | undefined
  readonly rate: number
  /** Before it was cut. */
  readonly frameBytes: number
  readonly header: Buffer
}

class Reader {
  readonly #bytes: Buffer
  #at = 0
  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }
  uint(): number {
    const value = this.#bytes.readUInt32BE(this.#at)
    this.#at += 4
    return value
  }
  skip(bytes: number): void {
    this.#at += bytes
    if (this.#at > this.#bytes.length) throw new RangeError('a datagram that ends too early')
  }
  opaque(): Buffer {
    const length = this.uint()
    const from = this.#at
    this.skip(Math.ceil(length / 4) * 4)
    return this.#bytes.subarray(from, from + length)
  }
}

const flowSample = 1
const rawPacketHeader = 1
const ethernet = 1

/** Undefined for what is not sFlow 5 or is cut short: anybody on the node can send to a loopback port. */
export function readDatagram(datagram: Buffer): Sample[] | undefined {
  try {
    const reader = new Reader(datagram)
    if (reader.uint() !== 5) return undefined
    const addressBytes = reader.uint() === 1 ? 4 : 16
    reader.skip(addressBytes + 12) // the agent's address; sub-agent, sequence, uptime
    const samples: Sample[] = []
    for (let left = reader.uint(); left > 0; left--) {
      const format = reader.uint()
      const body = reader.opaque()
      if (format === flowSample) samples.push(...readFlowSample(body))
    }
    return samples
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function readFlowSample(body: Buffer): Sample[] {
  const reader = new Reader(body)
  reader.skip(8) // sequence, source
  const rate = reader.uint()
  reader.skip(8) // pool, drops
  const input = reader.uint()
  const out = reader.uint()
  const single = out >>> 30 === 0 && out !== 0 // two bits tell whether it is one interface
  const samples: Sample[] = []
  for (let left = reader.uint(); left > 0; left--) {
    const format = reader.uint()
    const record = new Reader(reader.opaque())
    if (format !== rawPacketHeader || record.uint() !== ethernet) continue
    const frameBytes = record.uint()
    record.skip(4) // stripped: the checksum
    samples.push({ input, output: single ? out : undefined, rate, frameBytes, header: record.opaque() })
  }
  return samples
}
