import type {Capabilities} from '../base/capabilities.js'

/** An agent that may be given the task. */
export interface RoutingAgent {
  id: number
  name: string
  /** Weighted load of all it has to do. */
  load: number
  capabilities: Capabilities
  /** 0 to 1. */
  trust: number
  /** Rolled-up trust that it completes tasks of this phase, 0 to 1. */
  completionTrust?: number | undefined
  /** Share of its tasks that succeeded, 0 to 1. */
  reliability?: number | undefined
  /** The same per skill. */
  skillReliability: Readonly<Record<string, number>>
  recentValidationFailures: number
  /** Unix ms until which it should get no reducing task. */
  reducerCooldownUntilMs?: number | undefined
  hasWorkflow: boolean
}

/** What is known of a task that looks for an agent. */
export interface RoutingRequest {
  /** Agent id -> files of the manifest that it owns. */
  ownedFiles: ReadonlyMap<number, number>
  /** Group name -> files of the manifest in it. */
  groupVotes: ReadonlyMap<string, number>
  /** Group of the first file of the manifest that has one. */
  firstGroup?: string | undefined
  /** Group name -> name of its default agent. */
  defaultAgents: ReadonlyMap<string, string>
  requirements?: Capabilities | undefined
  description: string
  phaseLabel: string
  skill?: string | undefined
  /** Tokens that local work is expected to take. */
  localTokens?: number | undefined
  nowMs: number
}

/** The settings that routing goes by. */
export interface RoutingPolicy {
  attentionEnabled: boolean
  attentionTrustRoutingWeight: number
  socratesReputationRouting: boolean
  socratesReputationWeight: number
  routingExplorationEpsilon: number
  trustTaskCompletionFloor: number
  trustTaskCompletionWeight: number
  localBreakevenTokens: number
  repoShardSpecializationWeight: number
  repoShardValidationFailurePenalty: number
  repoReduceConflictCooldownPenalty: number
  meshRoutingExperimental: boolean
  meshTrainingRoutingExperimental: boolean
  meshTrainingBudgetPressure: number
  fallbackToSingleAgent: boolean
}
