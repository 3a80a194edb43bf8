import t from 'tap'
import handler from '../../../functions/admission-certificate/handler.ts'
import { serve } from '../../../shared/runtime/serve.ts'

const refused: ReadonlyArray<Record<string, string>> = [
  { RENEW_BEFORE: '2400h' }, // of 90 days
  { DAYS: '30' }, // as long as the time before its end by default
  { DAYS: '2', RENEW_BEFORE: '25h' }
]
t.test('a certificate that would be made anew by every tick is refused at the start', async t => {
  for (const env of refused)
    await t.rejects(serve(handler, { env: { LOG_LEVEL: 'silent', HOST: '127.0.0.1', PORT: '0', ...env } }), {
      name: 'ConfigError',
      message: /^RENEW_BEFORE must be at least a day shorter than the \d+ DAYS of a certificate/
    })
})

t.test('a day between two of them is enough', async t => {
  t.strictSame(handler.problems?.({ ...given, days: 2, renewBefore: 24 * 3_600_000 }), [])
  t.strictSame(handler.problems?.(given), [], 'as it ships')
})

const given = {
  namespace: 'drover',
  service: 'admission-tls',
  secret: 'admission-tls',
  configuration: 'drover-admission',
  days: 90,
  renewBefore: 720 * 3_600_000
}
