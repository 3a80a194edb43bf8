// The floor: a bare node:https server that parses the review and answers the same bytes.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'

const [folder = '', port = ''] = process.argv.slice(2)
const pair = { cert: readFileSync(join(folder, 'tls.crt')), key: readFileSync(join(folder, 'tls.key')) }
createServer(pair, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { uid } = (JSON.parse(Buffer.concat(chunks).toString()) as { request: { uid: string } }).request
    const body = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":${JSON.stringify(uid)},"allowed":true}}`
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  })
}).listen(Number(port), '127.0.0.1')
