import type {ManifestEntry} from '../../contracts/index.js'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {type Capabilities, groupOf, type PlacementReason, type WorkspaceContext} from '../../workspace/index.js'
import {capabilitiesOf, findAgentNamed, loadUnits, type WorkingAgent} from '../agents/agent-rows.js'
import {estimateTokens, overspent, spendingOf} from '../agents/budget.js'
import {ensureAgents, spawnAgent} from '../agents/spawn.js'
import {completionTrusts} from '../agents/trust.js'
import {ownedFiles} from '../locks.js'
import {chooseAgent} from './choose.js'
import {decidePlacement} from './placement.js'
import {remoteNodes} from './remote-nodes.js'
import type {RoutingAgent, RoutingRequest} from './score.js'

/** The members of a task that routing uses. */
export interface Placeable {
  description: string
  phase_label: string
  file_manifest: readonly ManifestEntry[]
  target_agent?: string | undefined
  requirements: Capabilities | undefined
  skill: string | undefined
  without?: number
}

export interface Placement {
  agent: WorkingAgent
  reason: PlacementReason
  /** The terms of the agent's score, if routing chose it. */
  terms: Readonly<Record<string, number>>
}

/** Finds the agent for a task, and spawns one if the rules require it. */
export function placeTask(context: WorkspaceContext, task: Placeable): Placement {
  const agents = ensureAgents(context)
  const {target_agent: target, requirements} = task
  const {agent, terms} = target === undefined ? route(context, task, agents) : aim(context, target)
  const {reason} = decidePlacement({
    gated: false,
    relay: 'not_tried',
    localVram: agents.map((row) => capabilitiesOf(row).min_vram_mb),
    ...(requirements?.min_vram_mb === undefined ? {} : {minVramMb: requirements.min_vram_mb}),
  })
  return {agent, reason, terms}
}

type Routed = Pick<Placement, 'agent' | 'terms'>

/** @throws max_agents_reached; usage for the resolution agent */
function aim(context: WorkspaceContext, name: string): Routed {
  const known = findAgentNamed(context, name)
  const agent = known ?? spawnAgent(context, {name, kind: 'dynamic', reason: 'route_spawn'})
  if (agent.kind === 'resolution')
    throw new SvcError('usage', {reason: `The agent ${name} holds doubted tasks and does not run any.`})
  return {agent, terms: {}}
}

function route(context: WorkspaceContext, task: Placeable, agents: readonly WorkingAgent[]): Routed {
  const {config, random} = context
  const others = agents.filter(({id}) => id !== task.without)
  const active = others.filter(({state}) => state === 'active')
  // If every agent is paused, the task waits for one of them.
  const available = active.length > 0 ? active : others
  const estimate = estimateTokens(task.description, task.file_manifest.length)
  const solvent = available.filter((row) => overspent(spendingOf(row, context.now()), config, estimate) === undefined)
  const candidates = solvent.length > 0 ? solvent : available
  const request = describeRequest(context, task)
  const choice = chooseAgent(request, describeAgents(context, candidates, request.phaseLabel), config, {
    remote: config.meshRoutingExperimental ? (remoteNodes(context)?.nodes ?? []) : [],
    random,
  })
  if (choice.kind === 'agent') {
    const terms = Object.fromEntries(choice.score.terms.map(({term, points}) => [term, points]))
    return {agent: candidates.find(({id}) => id === choice.agent.id) as WorkingAgent, terms}
  }
  return {agent: newAgent(context, choice.name) ?? leastBusy(candidates), terms: {}}
}

/** Undefined if routing passed over an existing agent of that name, or if the maximum number of agents is reached. */
function newAgent(context: WorkspaceContext, name: string): WorkingAgent | undefined {
  if (findAgentNamed(context, name) !== undefined) return undefined
  try {
    return spawnAgent(context, {name, kind: 'dynamic', reason: 'route_spawn'})
  } catch (error) {
    if (isErrorOf(error, 'max_agents_reached')) return undefined
    throw error
  }
}

function leastBusy(agents: readonly WorkingAgent[]): WorkingAgent {
  const [first] = [...agents].sort((a, b) => a.load - b.load || a.id - b.id)
  if (first === undefined) throw new SvcError('max_agents_reached', {limit: 0})
  return first
}

function describeRequest(context: WorkspaceContext, task: Placeable): RoutingRequest {
  const {description, file_manifest: files, phase_label: phaseLabel, requirements, skill} = task
  const groupVotes = new Map<string, number>()
  for (const {path} of files) {
    const group = groupOf(path, context.groups)
    if (group !== undefined) groupVotes.set(group, (groupVotes.get(group) ?? 0) + 1)
  }
  const [firstGroup] = groupVotes.keys()
  return {
    ownedFiles: ownedFiles(context, files),
    groupVotes,
    ...(firstGroup === undefined ? {} : {firstGroup}),
    defaultAgents: new Map(
      context.groups.flatMap(({name, defaultAgent}) => (defaultAgent === undefined ? [] : [[name, defaultAgent]])),
    ),
    ...(requirements === undefined ? {} : {requirements}),
    description,
    phaseLabel,
    ...(skill === undefined ? {} : {skill}),
    localTokens: description.length / 4 + 200 * files.length,
    nowMs: context.now(),
  }
}

interface Standing {
  trust: number
  completion?: number
  reliability?: number
  skills: Record<string, number>
}

const newcomer: Standing = {trust: 0.5, skills: {}}

function describeAgents(context: WorkspaceContext, agents: readonly WorkingAgent[], phase: string): RoutingAgent[] {
  const standings = readStandings(context, agents, phase)
  const bound = context.config.socratesReputationRouting ? agentsOfWorkflows(context) : new Set<number>()
  return agents.map((row) => {
    const {trust, completion, reliability, skills} = standings.get(row.name) ?? newcomer
    return {
      id: row.id,
      name: row.name,
      load: row.load / loadUnits,
      capabilities: capabilitiesOf(row),
      trust,
      ...(completion === undefined ? {} : {completionTrust: completion}),
      ...(reliability === undefined ? {} : {reliability}),
      skillReliability: skills,
      recentValidationFailures: row.validation_failures,
      ...(row.reducer_cooldown_until_ms === null ? {} : {reducerCooldownUntilMs: row.reducer_cooldown_until_ms}),
      hasWorkflow: bound.has(row.id),
    }
  })
}

/** Agents with unfinished tasks of plan steps that a workflow carries out. */
const agentsOfWorkflows = ({store, repositoryId}: WorkspaceContext): ReadonlySet<number> =>
  new Set(
    store
      .all<{id: number}>(
        `SELECT DISTINCT t.agent_id AS id FROM orch_tasks t JOIN plan_node_tasks p ON p.task_id = t.id
  JOIN plan_nodes n ON n.plan_session_id = p.plan_session_id AND n.version = p.version AND n.node_id = p.node_id
WHERE t.repository_id = ? AND t.status NOT IN ('Completed', 'Failed', 'Cancelled') AND n.workflow_invocation IS NOT NULL`,
        [repositoryId],
      )
      .map(({id}) => id),
  )

/** Reliability and trust of agents by name, read only if they affect routing. */
function readStandings(
  context: WorkspaceContext,
  agents: readonly WorkingAgent[],
  phase: string,
): ReadonlyMap<string, Standing> {
  const {store, repositoryId, config} = context
  const standings = new Map<string, Standing>()
  const of = (name: string): Standing => {
    const found = standings.get(name) ?? {...newcomer, skills: {}}
    standings.set(name, found)
    return found
  }
  if (config.attentionEnabled)
    for (const row of store.all<{agent_name: string; score: number}>(
      'SELECT agent_name, score FROM agent_trust WHERE repository_id = ?',
      [repositoryId],
    ))
      of(row.agent_name).trust = row.score
  if (config.socratesReputationRouting) {
    const names = agents.map(({name}) => name)
    for (const [name, {score}] of completionTrusts(context, names, phase)) of(name).completion = score
    for (const row of store.all<{entity_type: string; entity_id: string; reliability: number}>(
      "SELECT entity_type, entity_id, reliability FROM reliability_scores WHERE repository_id = ? AND entity_type IN ('agent', 'agent_skill')",
      [repositoryId],
    ))
      if (row.entity_type === 'agent') of(row.entity_id).reliability = row.reliability
      else {
        const [name = '', skill = ''] = row.entity_id.split('\0')
        of(name).skills[skill] = row.reliability
      }
  }
  return standings
}
