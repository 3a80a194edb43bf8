import { agentMain } from '../../shared/runtime/agent.ts'
import { ovsAgent } from './agent.ts'

await agentMain(ovsAgent)
