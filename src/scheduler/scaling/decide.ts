import {isGpuEligible, isSchedulable, type RemoteHint} from '../../tasks/index.js'

export interface ScalingAgent {
  id: number
  /** Started for work that came, and so one that may go again. */
  dynamic: boolean
  queued: number
  running: number
  /** Unix ms of the last thing it did. */
  lastActiveMs: number
}

export interface ScalingState {
  agents: readonly ScalingAgent[]
  totalLoad: number
  predictedLoad: number
  /** Tasks in all queues. */
  totalQueued: number
  remote: readonly RemoteHint[]
  /** An agent has used nearly all that it may spend. */
  costCritical: boolean
  lastScaleUpMs?: number | undefined
  nowMs: number
}

export interface ScalingPolicy {
  scalingEnabled: boolean
  scalingProfile: 'conservative' | 'balanced' | 'aggressive'
  /** Load per agent. */
  scalingThreshold: number
  minAgents: number
  maxAgents: number
  maxSpawnPerTick: number
  scalingCooldownMs: number
  idleRetirementMs: number
}

export type ScalingDecision = {kind: 'up'; count: number} | {kind: 'down'; agents: number[]} | {kind: 'none'}

/** What a profile makes of the threshold for another agent, and of the time after which an idle one goes. */
const profiles = {
  conservative: {threshold: 1.5, retirement: 0.6},
  balanced: {threshold: 1, retirement: 1},
  aggressive: {threshold: 0.7, retirement: 1.5},
} as const

/** Added to the load when more tasks wait than the threshold. */
const longQueue = 0.5
/** What each node with a GPU takes off the load. */
const reliefPerNode = 0.15
/** The fraction of a load that is a rounding error and no reason for another agent. */
const rounding = 1e-9

/** Whether agents are to be started, or which are to be retired. */
export function decideScaling(state: ScalingState, policy: ScalingPolicy): ScalingDecision {
  if (!policy.scalingEnabled) return {kind: 'none'}
  const count = agentsWanted(state, policy)
  if (count > 0) return coolsDown(state, policy) ? {kind: 'none'} : {kind: 'up', count}
  const agents = agentsToRetire(state, policy)
  return agents.length > 0 ? {kind: 'down', agents} : {kind: 'none'}
}

/** The share of the load that stays here when nodes with a GPU may take some. */
export const remoteRelief = (remote: readonly RemoteHint[]): number =>
  1 / (1 + reliefPerNode * remote.filter((hint) => isSchedulable(hint) && isGpuEligible(hint)).length)

/** Load of each agent from which another one is started. */
export const scaleUpThreshold = ({scalingThreshold, scalingProfile}: ScalingPolicy): number =>
  scalingThreshold * profiles[scalingProfile].threshold

/** Ms without work after which a dynamic agent goes. */
export const retirementMs = ({idleRetirementMs, scalingProfile}: ScalingPolicy, costCritical: boolean): number =>
  idleRetirementMs * profiles[scalingProfile].retirement * (costCritical ? 0.5 : 1)

/** How many agents one tick may start: 0 where the load does not ask for any. */
function agentsWanted(state: ScalingState, policy: ScalingPolicy): number {
  const present = state.agents.length
  if (present >= policy.maxAgents || state.costCritical) return 0
  const threshold = scaleUpThreshold(policy)
  const load =
    Math.max(state.totalLoad, state.predictedLoad) + (state.totalQueued > policy.scalingThreshold ? longQueue : 0)
  if ((load / Math.max(present, 1)) * remoteRelief(state.remote) < threshold) return 0
  const lacking = Math.ceil((load - present * threshold) / threshold - rounding)
  return Math.min(Math.max(lacking, 1), policy.maxAgents - present, policy.maxSpawnPerTick)
}

const coolsDown = ({lastScaleUpMs, nowMs}: ScalingState, {scalingCooldownMs}: ScalingPolicy) =>
  lastScaleUpMs !== undefined && nowMs - lastScaleUpMs < scalingCooldownMs

/** The longest idle go first. */
function agentsToRetire({agents, costCritical, nowMs}: ScalingState, policy: ScalingPolicy): number[] {
  const idleMs = retirementMs(policy, costCritical)
  return agents
    .filter((agent) => agent.dynamic && agent.queued === 0 && agent.running === 0)
    .filter((agent) => nowMs - agent.lastActiveMs > idleMs)
    .sort((a, b) => a.lastActiveMs - b.lastActiveMs || a.id - b.id)
    .slice(0, Math.max(0, agents.length - policy.minAgents))
    .map(({id}) => id)
}
