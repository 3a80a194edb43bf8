// RFC 4616
import type { Mechanism } from './mechanism.ts'

export const plain: Mechanism = {
  name: 'PLAIN',
  start: ({ username, password }) => ({
    first: Buffer.from(`\0${username}\0${password}`),
    next: () => {
      throw new Error('PLAIN has no challenge')
    },
    done: () => true
  })
}
