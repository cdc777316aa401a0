import type {OrchAgentV1} from '../../contracts/index.js'

/** An agent: a queue of tasks, of which the daemon runs one at a time; those of clients run in parallel. */
export type Agent = OrchAgentV1
export type AgentKind = Agent['kind']
export type AgentState = Agent['state']
