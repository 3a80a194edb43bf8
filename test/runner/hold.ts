// Not part of the run: a test file for the runner's own test, which lasts until it is killed.
import t from 'tap'

t.test('waits to be killed', async () => {
  process.stderr.write(`held by ${process.pid}\n`)
  await new Promise(() => setInterval(() => {}, 1000))
})
