import t from 'tap'
import { scram } from '../../shared/node-libvirt/src/sasl/scram.ts'

// RFC 7677 §3
const user = { username: 'user', password: 'pencil' }
const nonce = 'rOprNGfwEbeRWgbNEkqO'
const serverFirst = 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096'
const serverFinal = 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4='

t.test('the example of RFC 7677', async t => {
  const exchange = scram(user, nonce)
  t.equal(exchange.first.toString(), 'n,,n=user,r=rOprNGfwEbeRWgbNEkqO')
  t.equal(
    exchange.next(Buffer.from(serverFirst)).toString(),
    'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ='
  )
  t.notOk(exchange.done())
  t.equal(exchange.next(Buffer.from(serverFinal)).toString(), '')
  t.ok(exchange.done())
})

t.test('a comma and an equals sign in a name are escaped', async t => {
  t.equal(scram({ username: 'a=b,c', password: '' }, 'n').first.toString(), 'n,,n=a=3Db=2Cc,r=n')
})

const hostile: Array<[name: string, messages: string[]]> = [
  ['a nonce that is not ours', ['r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096']],
  ['a nonce without a part of its own', [`r=${nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`]],
  ['an endless count of iterations', [`r=${nonce}x,s=AAAA,i=2000000000`]],
  ['no iterations', [`r=${nonce}x,s=AAAA`]],
  ['garbage', ['\u0000\u0001']],
  ['a wrong signature', [serverFirst, 'v=AAAA']],
  ['an error', [serverFirst, 'e=invalid-proof']]
]
for (const [name, messages] of hostile) {
  t.test(`refuses ${name}`, async t => {
    const exchange = scram(user, nonce)
    t.throws(() => messages.map(message => exchange.next(Buffer.from(message))), /SCRAM/)
    t.notOk(exchange.done())
  })
}
