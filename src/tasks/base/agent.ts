import type {OrchAgentV1} from '../../contracts/index.js'

/** An agent: a task queue. The daemon runs one of its tasks at a time; external tasks run in parallel. */
export type Agent = OrchAgentV1
export type AgentKind = Agent['kind']
export type AgentState = Agent['state']
