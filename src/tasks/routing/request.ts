import type {Capabilities} from '../../workspace/index.js'

/** A candidate agent for a task. */
export interface RoutingAgent {
  id: number
  name: string
  /** Weighted load of its queued and running tasks. */
  load: number
  capabilities: Capabilities
  /** 0 to 1. */
  trust: number
  /** Moving average of its completion trust for tasks of this phase, 0 to 1. */
  completionTrust?: number | undefined
  /** Success rate of its tasks, 0 to 1. */
  reliability?: number | undefined
  /** Success rate per skill, 0 to 1. */
  skillReliability: Readonly<Record<string, number>>
  recentValidationFailures: number
  /** Unix ms until which it should receive no reducing task. */
  reducerCooldownUntilMs?: number | undefined
  hasWorkflow: boolean
}

/** Facts about a task that needs an agent. */
export interface RoutingRequest {
  /** Agent id -> number of the manifest's files that it owns. */
  ownedFiles: ReadonlyMap<number, number>
  /** Group name -> number of the manifest's files in it. */
  groupVotes: ReadonlyMap<string, number>
  /** Group of the first file in the manifest that has one. */
  firstGroup?: string | undefined
  /** Group name -> name of its default agent. */
  defaultAgents: ReadonlyMap<string, string>
  requirements?: Capabilities | undefined
  description: string
  phaseLabel: string
  skill?: string | undefined
  /** Estimated tokens of local work. */
  localTokens?: number | undefined
  nowMs: number
}

/** Settings that affect routing. */
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
