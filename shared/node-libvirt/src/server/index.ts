// node-libvirt/server: the protocol the other way round
export type { ServedEvent, ServedEventKind } from './events.ts'
export { type Hypervisor, refusal, ServerConnection, type ServerOptions } from './serve.ts'
