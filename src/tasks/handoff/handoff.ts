import type {ManifestEntry} from '../../contracts/index.js'
import {excerpt, SvcError} from '../../errors/index.js'
import {hardCapabilities, type WorkspaceContext} from '../../workspace/index.js'
import {type AgentRow, capabilitiesOf, requireAnyAgent} from '../agents/agent-rows.js'
import {checkScope, deniedByScope} from '../agents/scope.js'
import {observeHandoff} from '../agents/standing.js'
import {displayTask} from '../base/ids.js'
import type {Task} from '../base/task.js'
import {parseObject} from '../context/envelope.js'
import {appendEvent} from '../events/event-log.js'
import {droppedFrom, noHarness} from '../gates/dropped-items.js'
import type {Harness} from '../gates/evidence.js'
import {failRow} from '../lifecycle/finish.js'
import {moveToAgent} from '../lifecycle/move-to-agent.js'
import {moveTask} from '../lifecycle/status.js'
import {requireRow, requireTask, type TaskRequest, type TaskRow} from '../lifecycle/task-rows.js'
import {writesOf} from '../locks.js'
import {readHarness} from '../submission/harness.js'

export interface Handoff {
  task_id: number
  /** Name or id of the agent that has the task. */
  from_agent_id: string | number
  /** Name or id of the agent that receives the task. */
  to_agent_id: string | number
  /** Generation of the claim; required while someone holds the task. */
  generation?: number | undefined
  plan_summary: string
  unresolved_objectives?: readonly string[]
  verification_criteria: readonly string[]
  /** Context for the receiver, a JSON object. */
  context_envelope_json?: string | undefined
  /** What must be shown for the task to be done. It can add to what the task owes, but not remove from it. */
  harness_spec_json?: string | undefined
}

export interface HandoffResult {
  accepted: boolean
  /** Why it was not accepted. */
  reasons: string[]
  task: Task
}

/** Maximum number of hand-overs of a task. */
const maxHandoffs = 5

/**
 * Hands a task over to another agent: it moves to the queue of the receiver, with the plan in its description. A claim
 * on it ends. A hand-over that is not accepted changes only the trust in the sender. After five hand-overs, the next one
 * fails the task, because the agents pass it around.
 * @throws task_not_found, agent_not_found, claim_required, stale_handoff, handoff_invariant, usage
 */
export const handoffTask = (context: WorkspaceContext, handoff: Handoff): HandoffResult =>
  context.store.transaction(() => {
    const row = requireRow(context, handoff.task_id)
    const sender = requireAnyAgent(context, handoff.from_agent_id)
    const receiver = requireAnyAgent(context, handoff.to_agent_id)
    requireUnfinished(row)
    requireHolder(row, sender, handoff.generation)
    if (receiver.id === sender.id) throw broken(row, `${receiver.name} already has the task`)
    const harness = mergedHarness(context, row, handoff.harness_spec_json)
    const envelope = readEnvelope(handoff.context_envelope_json)

    const reasons = reasonsAgainst(context, row, receiver, handoff)
    const isLoop = reasons.length === 0 && row.handoff_count >= maxHandoffs
    if (isLoop) reasons.push(`${displayTask(row.id)} has already been handed over ${maxHandoffs} times`)
    const accepted = reasons.length === 0
    observeHandoff(context, row, accepted)
    if (isLoop) failLoop(context, row)
    else if (accepted) {
      moveToReceiver(context, row, receiver, {handoff, harness})
      if (envelope !== undefined) writeEnvelope(context, row.id, envelope)
    }
    return {accepted, reasons, task: requireTask(context, row.id)}
  })

const broken = ({id}: TaskRow, reason: string) => new SvcError('handoff_invariant', {task: displayTask(id), reason})

const waitingStatuses: ReadonlySet<string> = new Set(['Queued', 'InProgress', 'Blocked', 'BlockedOnApproval'])

/** @throws handoff_invariant */
function requireUnfinished(row: TaskRow): void {
  if (!waitingStatuses.has(row.status)) throw broken(row, `the task is ${row.status}`)
}

/** @throws claim_required, stale_handoff */
function requireHolder(row: TaskRow, sender: AgentRow, generation: number | undefined): void {
  const {status, claim_owner: owner, claim_generation: current} = row
  const task = displayTask(row.id)
  if (row.agent_id !== sender.id)
    throw new SvcError('stale_handoff', {task, reason: `it belongs to ${row.agent_name}, not to ${sender.name}`})
  if (generation === undefined && status === 'InProgress' && owner !== null)
    throw new SvcError('claim_required', {task, owner})
  if (generation !== undefined && generation !== current)
    throw new SvcError('stale_handoff', {
      task,
      reason: `claim ${generation} is not current; the current one is ${current}`,
    })
}

/** What the receiver owes: at least what the task owes. @throws handoff_invariant, usage */
function mergedHarness(context: WorkspaceContext, row: TaskRow, json: string | undefined): Harness | undefined {
  if (json === undefined) return undefined
  const refuse = (fault: string): never => {
    throw new SvcError('usage', {reason: `The hand-over cannot be accepted: ${fault}.`})
  }
  const {harness: owed = noHarness} = JSON.parse(row.request) as TaskRequest
  const given = readHarness({description: row.description, harness_spec_json: json}, context, refuse)
  if (given === undefined) return undefined
  const [dropped] = droppedFrom(owed, given)
  if (dropped !== undefined) throw broken(row, `harness_spec_json drops ${dropped}, which the task owes`)
  return given
}

/** @throws usage */
function readEnvelope(json: string | undefined): string | undefined {
  if (json === undefined || json.trim() === '') return undefined
  const envelope = parseObject(json)
  if (typeof envelope === 'string') throw new SvcError('usage', {reason: `context_envelope_json ${envelope}.`})
  return json
}

function reasonsAgainst(context: WorkspaceContext, row: TaskRow, receiver: AgentRow, handoff: Handoff): string[] {
  const {name, state, kind} = receiver
  const {capability_requirements: needs} = JSON.parse(row.request) as TaskRequest
  const capabilities = capabilitiesOf(receiver)
  const lacking = hardCapabilities.filter((flag) => needs?.[flag] && !capabilities[flag])
  const denied = deniedByScope(context, receiver, writesOf(JSON.parse(row.file_manifest) as ManifestEntry[]))
  return [
    ...(handoff.plan_summary.trim() === '' ? ['plan_summary is blank'] : []),
    ...(nonBlank(handoff.verification_criteria).length === 0 ? ['verification_criteria is empty'] : []),
    ...(kind === 'resolution' ? [`${name} holds doubted tasks and does not run any`] : []),
    ...(state === 'active' ? [] : [`${name} is ${state}`]),
    ...denied.map((path) => `${path} is outside the scope of ${name}`),
    ...lacking.map((flag) => `${name} does not have the required capability ${flag}`),
  ]
}

interface Agreed {
  handoff: Handoff
  harness: Harness | undefined
}

/** A blocked task keeps its status: a hand-over replaces neither its dependencies nor its approval. */
function moveToReceiver(context: WorkspaceContext, row: TaskRow, receiver: AgentRow, {handoff, harness}: Agreed): void {
  const status = row.status === 'InProgress' ? 'Queued' : row.status
  const count = row.handoff_count + 1
  moveTask(context, row, status, {
    // Invalidates the claim of the sender.
    claim_generation: row.claim_generation + 1,
    handoff_count: count,
    description: `${row.description}\n\n${handoffBlock(handoff, {from: row.agent_name, to: receiver.name})}`,
    ...(status === 'Queued' ? {status_reason: null, not_before_ms: null} : {}),
  })
  if (harness !== undefined)
    context.store.run("UPDATE orch_tasks SET request = json_set(request, '$.harness', json(?)) WHERE id = ?", [
      JSON.stringify(harness),
      row.id,
    ])
  moveToAgent(context, {...row, status}, receiver.id)
  // Strict enforcement has been checked; otherwise a violation is recorded.
  checkScope(context, receiver, writesOf(JSON.parse(row.file_manifest) as ManifestEntry[]))
  appendEvent(context, {
    type: 'task_handed_off',
    task_id: row.id,
    agent_id: receiver.id,
    from_agent_id: row.agent_id,
    handoff_count: count,
  })
}

/** Maximum lengths in a description, in characters, and of its lists, in items. */
export const maxHandoff = {summary: 8192, line: 512, lines: 32} as const

const nonBlank = (lines: readonly string[]) => lines.map((line) => line.trim()).filter(Boolean)

function handoffBlock(
  {plan_summary, unresolved_objectives = [], verification_criteria}: Handoff,
  {from, to}: {from: string; to: string},
): string {
  const list = (title: string, lines: readonly string[]) => {
    const items = nonBlank(lines).slice(0, maxHandoff.lines)
    return items.length === 0 ? [] : [title, ...items.map((line) => `- ${excerpt(line, maxHandoff.line)}`)]
  }
  return [
    `[HANDOFF] from ${from} to ${to}`,
    excerpt(plan_summary.trim(), maxHandoff.summary),
    ...list('Unresolved objectives:', unresolved_objectives),
    ...list('Verification criteria:', verification_criteria),
  ].join('\n')
}

function writeEnvelope({store, repositoryId}: WorkspaceContext, taskId: number, envelope: string): void {
  store.run(
    `INSERT INTO orch_task_evidence (task_id, repository_id, envelope) VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET envelope = excluded.envelope`,
    [taskId, repositoryId, envelope],
  )
}

/** Fails a task that agents pass around; this does not count as a failure of the agent that has it. */
function failLoop(context: WorkspaceContext, row: TaskRow): void {
  // A queued task has no transition to Failed: it fails as a run that ends at once.
  if (row.status === 'Queued') moveTask(context, row, 'InProgress', {claim_generation: row.claim_generation + 1})
  failRow(context, requireRow(context, row.id), 'handoff_loop', false)
}
