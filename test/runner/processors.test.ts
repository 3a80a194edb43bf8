import t from 'tap'
import { processors } from './processors.ts'

t.test('processors are idle when they had nothing to do for a while, and nothing was begun since', async t => {
  const now = { idle: 0, total: 0 }
  const pass = (idle: number, busy: number) => {
    now.idle += idle
    now.total += idle + busy
  }
  const { idle, occupied } = processors(() => ({ ...now }), 2)
  pass(3000, 0)
  t.equal(idle(), false, 'not seen for long enough')
  pass(0, 1000)
  t.equal(idle(), true, 'three quarters')
  t.equal(idle(), false, 'a new window')
  pass(500, 3500)
  t.equal(idle(), false, 'an eighth')
  pass(3000, 0)
  occupied()
  pass(1000, 0)
  t.equal(idle(), false)
})
