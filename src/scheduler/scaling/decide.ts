import {isGpuSchedulable, type RemoteHint} from '../../tasks/index.js'

export interface ScalingAgent {
  id: number
  /** Started on demand, so it may be retired when idle. */
  isDynamic: boolean
  queued: number
  running: number
  /** Time of its last activity, Unix ms. */
  lastActiveMs: number
}

export interface ScalingState {
  agents: readonly ScalingAgent[]
  totalLoad: number
  predictedLoad: number
  /** Tasks in all queues. */
  totalQueued: number
  remote: readonly RemoteHint[]
  /** An agent has nearly used up its budget. */
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

/** Factors of a profile for the scale-up threshold and the idle time before retirement. */
const profiles = {
  conservative: {threshold: 1.5, retirement: 0.6},
  balanced: {threshold: 1, retirement: 1},
  aggressive: {threshold: 0.7, retirement: 1.5},
} as const

/** Added to the load if the number of waiting tasks exceeds the threshold. */
const longQueue = 0.5
/** Load reduction per node with a GPU. */
const reliefPerNode = 0.15
/** Tolerance for rounding errors, which must not start another agent. */
const rounding = 1e-9

/** Decides how many agents to start or which to retire. */
export function decideScaling(state: ScalingState, policy: ScalingPolicy): ScalingDecision {
  if (!policy.scalingEnabled) return {kind: 'none'}
  const count = agentsWanted(state, policy)
  if (count > 0) return coolsDown(state, policy) ? {kind: 'none'} : {kind: 'up', count}
  const agents = agentsToRetire(state, policy)
  return agents.length > 0 ? {kind: 'down', agents} : {kind: 'none'}
}

/** The fraction of the load that stays here if nodes with a GPU can take some. */
export const remoteRelief = (remote: readonly RemoteHint[]): number =>
  1 / (1 + reliefPerNode * remote.filter(isGpuSchedulable).length)

/** Load per agent above which another one is started. */
export const scaleUpThreshold = ({scalingThreshold, scalingProfile}: ScalingPolicy): number =>
  scalingThreshold * profiles[scalingProfile].threshold

/** Idle time after which a dynamic agent is retired, ms. */
export const retirementMs = ({idleRetirementMs, scalingProfile}: ScalingPolicy, costCritical: boolean): number =>
  idleRetirementMs * profiles[scalingProfile].retirement * (costCritical ? 0.5 : 1)

/** The number of agents that one tick may start. */
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

/** Agents to retire, longest idle first. */
function agentsToRetire({agents, costCritical, nowMs}: ScalingState, policy: ScalingPolicy): number[] {
  const idleMs = retirementMs(policy, costCritical)
  return agents
    .filter((agent) => agent.isDynamic && agent.queued === 0 && agent.running === 0)
    .filter((agent) => nowMs - agent.lastActiveMs > idleMs)
    .sort((a, b) => a.lastActiveMs - b.lastActiveMs || a.id - b.id)
    .slice(0, Math.max(0, agents.length - policy.minAgents))
    .map(({id}) => id)
}
