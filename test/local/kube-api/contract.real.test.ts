import t from 'tap'
import { kubernetes } from '../../servers/kubernetes.ts'
import { contract } from './contract.ts'

await contract(t, await kubernetes(t))
