// A Widget applied by a manager, and who owns its fields.
import { apply, widget, type Api, type Body } from './target.ts'

// The server sorts by operation and time; two writes of one second may come either way.
export const owners = (object: Body): unknown[][] =>
  (object.metadata.managedFields ?? [])
    .map(({ manager, operation, subresource = '', fieldsV1 }) => [manager, operation, subresource, fieldsV1])
    .sort((a, b) => (`${String(a[1])} ${String(a[0])}` < `${String(b[1])} ${String(b[0])}` ? -1 : 1))

export const empty = {}

export const applier =
  ({ widgets, done }: Api) =>
  (name: string, manager: string, spec: object, force = false, metadata: object = {}): Promise<Body> =>
    done('PATCH', `${widgets}/${name}?fieldManager=${manager}&force=${force}`, widget(name, spec, metadata), apply)
