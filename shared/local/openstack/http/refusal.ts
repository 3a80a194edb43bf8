// How each service says no.

export class Refusal extends Error {
  readonly status: number
  readonly body: object

  constructor(status: number, message: string, body: object) {
    super(message)
    this.status = status
    this.body = body
  }
}

const novaNames: Readonly<Record<number, string>> = {
  400: 'badRequest',
  403: 'forbidden',
  404: 'itemNotFound',
  409: 'conflictingRequest'
}

export const nova = (status: number, message: string): Refusal =>
  new Refusal(status, message, { [novaNames[status] ?? 'computeFault']: { code: status, message } })

export const keystone = (status: number, title: string, message: string): Refusal =>
  new Refusal(status, message, { error: { code: status, title, message } })

const placementLead: Readonly<Record<number, [title: string, lead: string]>> = {
  400: ['Bad Request', 'The server could not comply with the request since it is either malformed or otherwise incorrect.'],
  404: ['Not Found', 'The resource could not be found.'],
  406: ['Not Acceptable', 'The resource could not be generated that was acceptable to your browser.'],
  409: ['Conflict', 'There was a conflict when trying to complete your request.']
}

export function placement(status: number, words: string, code = 'placement.undefined_code'): Refusal {
  const [title, lead] = placementLead[status] ?? ['Error', '']
  return new Refusal(status, words, { errors: [{ status, title, detail: `${lead}\n\n ${words}  `, code }] })
}
