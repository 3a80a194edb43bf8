import { agentMain } from '../../shared/runtime/agent.ts'
import { hypervisorAgent } from './agent.ts'

await agentMain(hypervisorAgent)
