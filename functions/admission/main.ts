import { setFlagsFromString } from 'node:v8'
import { main } from '../../shared/runtime/serve.ts'

// A review leaves nothing behind: V8 would let the heap and its compiler grow to twice the size for thousands of them a second.
setFlagsFromString('--optimize-for-size')
await main(() => import('./handler.ts'))
