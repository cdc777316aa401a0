import {type Capabilities, catchAllGroup, hardCapabilities} from '../../workspace/index.js'
import type {RemoteHint} from './remote.js'
import type {RoutingAgent, RoutingPolicy, RoutingRequest} from './request.js'
import {type Score, type Scorer, scorerOf} from './score.js'

/** The agent for the task, or the name of the agent to spawn for it. */
export type Choice = {kind: 'agent'; agent: RoutingAgent; score: Score} | {kind: 'spawn'; name: string}

export interface Surroundings {
  remote: readonly RemoteHint[]
  /** Random number in [0, 1). */
  random: () => number
}

/** Names of the agents that are spawned for work without a group. */
const firstAgent = 'default'
const generalAgent = 'general'

/** An agent with a lower score is not explored: it lacks a requirement of the task. */
const explorationFloor = -1000

/**
 * Chooses the active agent with the highest score; ties go to the lower load, then to the lower id. If nothing ties the
 * task to an agent (no file owners, no agents for its groups, no requirements), an agent is spawned for its group. If
 * it has no group either, the setting decides between the best existing agent and a general one.
 */
export function chooseAgent(
  request: RoutingRequest,
  agents: readonly RoutingAgent[],
  policy: RoutingPolicy,
  {remote, random}: Surroundings,
): Choice {
  const group = agentOfGroup(request)
  if (agents.length === 0) return {kind: 'spawn', name: group ?? firstAgent}
  const scorer = scorerOf(request, policy, remote)
  if (!needsSomething(request.requirements) && !agents.some((agent) => isTied(agent, request))) {
    const name = group ?? (policy.fallbackToSingleAgent ? undefined : generalAgent)
    if (name !== undefined) return agentOfName(name, agents, scorer)
  }
  const agent = explored(agents, scorer, policy, random) ?? bestAgent(agents, scorer)
  return {kind: 'agent', agent, score: scorer.score(agent)}
}

/** Name of the agent for the group of the first file in the manifest that has one. */
function agentOfGroup({firstGroup: group, defaultAgents}: RoutingRequest): string | undefined {
  if (group === undefined) return undefined
  return defaultAgents.get(group) ?? (group === catchAllGroup ? undefined : group)
}

function needsSomething(needs: Capabilities | undefined): boolean {
  if (needs === undefined) return false
  const {min_vram_mb = 0, min_cpu_cores = 0, labels} = needs
  return (
    hardCapabilities.some((capability) => needs[capability]) ||
    needs.prefer_gpu_compute ||
    min_vram_mb > 0 ||
    min_cpu_cores > 0 ||
    labels.length > 0
  )
}

function isTied({id, name}: RoutingAgent, {ownedFiles, groupVotes, defaultAgents}: RoutingRequest): boolean {
  if (ownedFiles.has(id) || groupVotes.has(name)) return true
  for (const group of groupVotes.keys()) if (defaultAgents.get(group) === name) return true
  return false
}

function agentOfName(name: string, agents: readonly RoutingAgent[], scorer: Scorer): Choice {
  const agent = agents.find((one) => one.name === name)
  return agent === undefined ? {kind: 'spawn', name} : {kind: 'agent', agent, score: scorer.score(agent)}
}

/** With the configured probability, returns a random eligible agent, so that new agents gain a track record. */
function explored(
  agents: readonly RoutingAgent[],
  scorer: Scorer,
  {attentionEnabled, routingExplorationEpsilon}: RoutingPolicy,
  random: () => number,
): RoutingAgent | undefined {
  if (!attentionEnabled || routingExplorationEpsilon <= 0 || random() >= routingExplorationEpsilon) return undefined
  const worthTrying = agents.filter((agent) => scorer.total(agent) >= explorationFloor)
  return worthTrying[Math.floor(random() * worthTrying.length)]
}

function bestAgent(agents: readonly RoutingAgent[], scorer: Scorer): RoutingAgent {
  let best = agents[0] as RoutingAgent
  let bestTotal = scorer.total(best)
  for (let i = 1; i < agents.length; i++) {
    const agent = agents[i] as RoutingAgent
    const total = scorer.total(agent)
    if (total > bestTotal || (total === bestTotal && isPreferred(agent, best))) {
      best = agent
      bestTotal = total
    }
  }
  return best
}

const isPreferred = (one: RoutingAgent, other: RoutingAgent) =>
  one.load === other.load ? one.id < other.id : one.load < other.load
