import t from 'tap'
import { kubernetes } from '../../servers/real-kubernetes.ts'
import { contract } from './contract.ts'

await contract(t, await kubernetes(t))
