import { main } from '../../shared/runtime/serve.ts'

await main(() => import('./handler.ts'))
