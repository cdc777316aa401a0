import type {RemoteHint} from './remote.js'
import type {RoutingAgent, RoutingPolicy, RoutingRequest} from './request.js'
import {routedTask, terms} from './terms.js'

export type {RoutingAgent, RoutingPolicy, RoutingRequest} from './request.js'

/** How well an agent suits a task, with the terms that are not 0. */
export interface Score {
  total: number
  terms: readonly {term: string; points: number}[]
}

/** Scores agents for one task. */
export interface Scorer {
  /** The total alone, without allocations: most agents are only compared. */
  total(agent: RoutingAgent): number
  score(agent: RoutingAgent): Score
}

export function scorerOf(request: RoutingRequest, policy: RoutingPolicy, remote: readonly RemoteHint[]): Scorer {
  const task = routedTask(request, policy, remote)
  const asked = terms.filter((term) => term.applies(task))
  const total = (agent: RoutingAgent) => {
    let sum = 0
    for (const term of asked) sum += term.points(agent, task)
    return sum
  }
  return {
    total,
    score: (agent) => ({
      total: total(agent),
      terms: asked.map(({term, points}) => ({term, points: points(agent, task)})).filter(({points}) => points !== 0),
    }),
  }
}

export const scoreAgent = (
  request: RoutingRequest,
  agent: RoutingAgent,
  policy: RoutingPolicy,
  remote: readonly RemoteHint[],
): Score => scorerOf(request, policy, remote).score(agent)
