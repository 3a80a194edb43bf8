// Images: I1.
import { call, type Send } from '../call.ts'
import { row, rows, text, textOrNull } from '../decode.ts'

export interface Image {
  id: string
  name: string | null
  status: string
}

export const listImages = call({
  name: 'images.named',
  row: 'I1',
  service: 'image',
  method: 'GET',
  path: '/v2/images',
  ok: [200],
  decode: ({ body }): Image[] =>
    rows(row(body), 'images').map(image => ({
      id: text(image, 'id'),
      name: textOrNull(image, 'name'),
      status: text(image, 'status')
    }))
})

export interface Images {
  named(name: string): Promise<Image[]>
}

export function images(send: Send): Images {
  return { named: async name => (await send(listImages, {}, { query: { name } })).filter(image => image.name === name) }
}
