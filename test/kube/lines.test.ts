import t from 'tap'
import { lines } from '../../shared/kube/lines.ts'

async function* chunks(...parts: Buffer[]): AsyncGenerator<Buffer> {
  yield* parts
}
const collect = async (source: AsyncGenerator<string>): Promise<string[]> => Array.fromAsync(source)

t.test('lines are whole at every cut of the bytes', async t => {
  const bytes = Buffer.from('{"a":"ü"}\n\n{"b":"漢字"}\r\nlast\n')
  for (let one = 0; one <= bytes.length; one++) {
    for (let two = one; two <= bytes.length; two++) {
      const parts = chunks(bytes.subarray(0, one), bytes.subarray(one, two), bytes.subarray(two))
      t.strictSame(await collect(lines(parts, 100)), ['{"a":"ü"}', '{"b":"漢字"}\r', 'last'], { diagnostic: false })
    }
  }
})

t.test('what follows the last newline is no line', async t => {
  const source = lines(chunks(Buffer.from('whole\nhal')), 100)
  t.equal((await source.next()).value, 'whole')
  await t.rejects(source.next(), { code: 'Malformed', message: /after 3 bytes/ })
})

const lengths: Array<[name: string, parts: string[], fits: boolean]> = [
  ['of just the bound', ['12345678\n'], true],
  ['one byte longer', ['123456789\n'], false],
  ['longer in two chunks', ['12345', '6789'], false],
  ['that only begins too long', ['123456789'], false]
]
for (const [name, parts, fits] of lengths) {
  t.test(`a line ${name} is ${fits ? 'taken' : 'refused'}`, async t => {
    const read = collect(lines(chunks(...parts.map(part => Buffer.from(part))), 8))
    await (fits ? t.resolves(read) : t.rejects(read, { code: 'Malformed', message: 'a line of more than 8 bytes' }))
  })
}
