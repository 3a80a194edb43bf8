import { setFlagsFromString } from 'node:v8'
import { main } from '../../shared/runtime/serve.ts'

// A young generation of 4 MB is collected in half a millisecond. Helpers cost more than they save, and are waited for while others have the cores.
setFlagsFromString('--no-parallel-scavenge')
await main(() => import('./handler.ts'))
