import t from 'tap'
import { contract } from './contract.ts'
import { embedded } from './embedded.ts'

await contract(t, await embedded(t))
