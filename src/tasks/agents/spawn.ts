import {SvcError} from '../../errors/index.js'
import {mergeCapabilities, type WorkspaceContext} from '../../workspace/index.js'
import type {AgentKind} from '../base/agent.js'
import {displayAgent} from '../base/ids.js'
import {appendEvent} from '../events/event-log.js'
import {type AgentRow, agentRows, findAgentNamed, requireAgent, type WorkingAgent, workingAgents} from './agent-rows.js'

export interface Spawn {
  name: string
  kind?: AgentKind
  /** Name or id of the agent that delegates to it. */
  parent?: string | number
  sourceTaskId?: number
  reason?: string
  /** Labels in addition to those of the configuration and the machine. */
  labels?: readonly string[]
  model?: string
}

const maxNameLength = 128

/** Name of the agent that holds doubted tasks. */
export const resolutionAgent = 'resolution'

/**
 * Adds an agent with the capabilities of the configuration and of this machine. Capabilities that a task requests are
 * not added: an agent with a false capability would receive work that it cannot do.
 * @throws max_agents_reached, agent_exists, delegation_parent_not_found, usage
 */
export const spawnAgent = (context: WorkspaceContext, spawn: Spawn): AgentRow =>
  context.store.transaction(() => addAgent(context, spawn))

function addAgent(context: WorkspaceContext, spawn: Spawn): AgentRow {
  const {store, repositoryId, config, probe, now} = context
  const {kind = 'reserved', parent, sourceTaskId, reason, labels = [], model} = spawn
  const name = spawn.name.trim()
  if (name === '' || name.length > maxNameLength || /[\p{Cc}/\\]/u.test(name))
    throw new SvcError('usage', {
      reason: `${JSON.stringify(spawn.name)} is not a valid agent name; use 1 to ${maxNameLength} characters without slashes or control characters.`,
    })
  const others = agentRows(context)
  const taken = others.find((agent) => agent.name === name)
  if (taken !== undefined) throw new SvcError('agent_exists', {name, agent: displayAgent(taken.id)})
  if (name === resolutionAgent && kind !== 'resolution')
    throw new SvcError('usage', {reason: `The name ${name} is reserved for the agent that holds doubted tasks.`})
  if (kind !== 'resolution' && others.filter((agent) => agent.kind !== 'resolution').length >= config.maxAgents)
    throw new SvcError('max_agents_reached', {limit: config.maxAgents})
  const parentId = parent === undefined ? null : parentOf(context, parent)

  const merged = mergeCapabilities(config.defaultAgentCapabilities, probe)
  const capabilities = {...merged, labels: [...new Set([...merged.labels, ...labels])]}
  const at = now()
  const {lastInsertRowid} = store.run(
    `INSERT INTO orch_agents (repository_id, name, kind, state, parent_agent_id, source_task_id, spawn_reason, capabilities,
  model, created_at_ms, last_active_ms) VALUES (?, ?, ?, 'active', ?, ?, ?, ?, ?, ?, ?)`,
    [
      repositoryId,
      name,
      kind,
      parentId,
      sourceTaskId ?? null,
      reason ?? null,
      JSON.stringify(capabilities),
      model ?? null,
      at,
      at,
    ],
  )
  const id = Number(lastInsertRowid)
  appendEvent(context, {type: 'agent_spawned', agent_id: id, name, ...(reason === undefined ? {} : {reason})})
  return requireAgent(context, id)
}

function parentOf(context: WorkspaceContext, parent: string | number): number {
  try {
    return requireAgent(context, parent).id
  } catch (error) {
    throw new SvcError('delegation_parent_not_found', {parent: String(parent)}, {cause: error})
  }
}

/** Spawns reserved agents until there are `min_agents`. */
export function ensureAgents(context: WorkspaceContext): WorkingAgent[] {
  const {minAgents} = context.config
  let agents = workingAgents(context)
  while (agents.length < minAgents) {
    spawnAgent(context, {name: freeName('core', agents), reason: 'min_agents'})
    agents = workingAgents(context)
  }
  return agents
}

function freeName(base: string, agents: readonly Pick<AgentRow, 'name'>[]): string {
  const taken = new Set(agents.map(({name}) => name))
  if (!taken.has(base)) return base
  for (let i = 2; ; i++) if (!taken.has(`${base}-${i}`)) return `${base}-${i}`
}

/** The agent that holds doubted tasks; created on first use. */
export const ensureResolutionAgent = (context: WorkspaceContext): AgentRow =>
  findAgentNamed(context, resolutionAgent) ??
  spawnAgent(context, {name: resolutionAgent, kind: 'resolution', reason: 'doubt'})

/** @throws agent_not_found; usage for the resolution agent */
export function setPaused(context: WorkspaceContext, nameOrId: string | number, paused: boolean): AgentRow {
  return context.store.transaction(() => {
    const agent = workingAgent(context, nameOrId)
    const state = paused ? 'paused' : 'active'
    if (agent.state === state) return agent
    context.store.run('UPDATE orch_agents SET state = ? WHERE id = ?', [state, agent.id])
    appendEvent(context, {type: paused ? 'agent_paused' : 'agent_resumed', agent_id: agent.id})
    return {...agent, state}
  })
}

/**
 * Maps an agent to a session. From then on only that session can send, read and acknowledge messages in the agent's
 * name. Null removes the mapping.
 * @throws agent_not_found, usage
 */
export function mapSession(context: WorkspaceContext, nameOrId: string | number, sessionId: string | null): AgentRow {
  return context.store.transaction(() => {
    const agent = workingAgent(context, nameOrId)
    context.store.run('UPDATE orch_agents SET session_id = ? WHERE id = ?', [sessionId, agent.id])
    return {...agent, session_id: sessionId}
  })
}

/** Finds an agent that can be paused, drained and retired. @throws agent_not_found, usage */
export function workingAgent(context: WorkspaceContext, nameOrId: string | number): AgentRow {
  const agent = requireAgent(context, nameOrId)
  if (agent.kind === 'resolution')
    throw new SvcError('usage', {reason: `The agent ${agent.name} holds doubted tasks and has no queue.`})
  return agent
}
