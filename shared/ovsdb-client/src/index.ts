export { type Client, type OpenOptions, type Status, open } from './client.ts'
export { type Column, type Columns, type Row, type Scalar, type ValueOf, column } from './column.ts'
export { OvsdbError, type OvsdbErrorCode } from './error.ts'
/** For others that speak JSON without delimiters, such as unixctl. */
export { JsonStream, type JsonText } from './json-stream.ts'
export type { Lock } from './lock.ts'
export type { Change, Monitor, MonitorOptions, News, Rows, Tables } from './monitor.ts'
export { type Atom, type Reference, type Value, named, uuid } from './notation.ts'
export {
  type Comparison,
  type Mutations,
  type Mutator,
  type NewRow,
  type Operation,
  type ResultOf,
  type Results,
  type Where,
  abort,
  assert,
  comment,
  commit,
  insert,
  mutate,
  remove,
  select,
  update,
  wait
} from './operation.ts'
export type { Patience } from './patience.ts'
export type { TlsOptions } from './remote.ts'
export type { ColumnType, Schema, Spec } from './schema.ts'
