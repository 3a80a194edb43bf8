/** `HOST:PORT`, `:PORT` for every address of the machine, `[::1]:PORT`. */
export const bindAddressPattern = '^.*:\\d{1,5}$'

export function parseBindAddress(text: string): { host: string; port: number } {
  const at = text.lastIndexOf(':')
  return { host: text.slice(0, at).replace(/^\[|\]$/g, '') || '::', port: Number(text.slice(at + 1)) }
}
