import { call } from '../call.ts'
import { child, row, text } from '../decode.ts'
import { OpenStackError } from '../error.ts'
import { readCatalog } from '../session/catalog.ts'
import type { Grant } from '../session/tokens.ts'

export const createToken = call({
  name: 'tokens.create',
  row: 'K1',
  service: 'identity',
  method: 'POST',
  path: '/v3/auth/tokens',
  ok: [201],
  repeatable: true, // one token more does no harm
  decode: ({ body, headers }): Grant => {
    const token = child(row(body), 'token')
    const id = headers['x-subject-token']
    const endsAtMs = Date.parse(text(token, 'expires_at'))
    if (!id || Number.isNaN(endsAtMs)) throw new OpenStackError('BadAnswer', 'no token or no end of it')
    return { token: id, endsAtMs, catalog: readCatalog(token) }
  }
})
