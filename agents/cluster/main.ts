import { agentMain } from '../../shared/runtime/agent.ts'
import { clusterAgent } from './agent.ts'

await agentMain(clusterAgent)
