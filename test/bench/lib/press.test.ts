import t from 'tap'
import { answerEnd, requestOf } from './press.ts'

const answers = {
  'without a body': 'HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n',
  'of a known length': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'in chunks': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'in no chunk at all': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'
}
for (const [name, text] of Object.entries(answers)) {
  t.test(`an answer ${name} ends where it ends, wherever it is cut`, async t => {
    for (let cut = 0; cut < text.length; cut++) t.equal(answerEnd(text.slice(0, cut)), -1)
    t.equal(answerEnd(`${text}HTTP/1.1 200 OK`), text.length)
  })
}

t.test('a request says its length in bytes', async t => {
  t.equal(
    requestOf('/a', { x: 'y' }, 'ä').toString(),
    'POST /a HTTP/1.1\r\nhost: 127.0.0.1\r\nx: y\r\ncontent-length: 2\r\n\r\nä'
  )
})
