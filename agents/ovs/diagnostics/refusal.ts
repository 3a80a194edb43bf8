/** An answer other than success (OV-58). The text is for the one who asked; it holds nothing of a capture. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 429 | 502 | 503 | 504
  constructor(status: Refusal['status'], message: string) {
    super(message.slice(0, 4096))
    this.status = status
  }
}
