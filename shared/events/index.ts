// The table of all events. Triggers, handlers and the README's table are checked against it.
import type { EventKind } from './kind.ts'
import { knativeKinds } from './knative.ts'
import { libvirtKinds } from './libvirt.ts'
import { novaKinds } from './nova.ts'
import * as objects from './objects.ts'
import { ovsKinds } from './ovs.ts'
import { workflowKinds } from './workflow.ts'

const objectKinds = Object.values(objects).filter(value => typeof value === 'object')

export const allKinds: readonly EventKind[] = [
  ...knativeKinds,
  ...objectKinds,
  ...libvirtKinds,
  ...ovsKinds,
  ...novaKinds,
  ...workflowKinds
]
