/** HV-67: the id under which the services log what they did on behalf of an event. */
export function requestIdOf(traceparent: string | undefined): { globalRequestId?: string } {
  const id = traceparent?.slice(3, 35)
  if (id === undefined || !/^[0-9a-f]{32}$/.test(id)) return {}
  const uuid = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { globalRequestId: `req-${uuid}` }
}
