import type {StatusReport} from '../orchestrator/index.js'
import type {Accepted, Agent, EventRecord, EventType, OrchestratorEvent, Task} from '../tasks/index.js'
import {formatTable} from './table.js'

/** Text on one line of a terminal: what would move its cursor is a blank. */
export const oneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ').trim()

/** Text of several lines, without what would change the terminal itself. */
export const plain = (text: string): string => text.replaceAll(/(?![\n\t])\p{Cc}/gu, '').trimEnd()

const widest = 72

/** The beginning of a text, on one line. */
export const excerpt = (text: string): string => {
  const line = oneLine(text)
  return line.length <= widest ? line : `${line.slice(0, widest - 1)}…`
}

export const time = (ms: number): string => new Date(ms).toISOString()

/** How a task stands, on one line. */
export function taskLine({display_id, status, status_reason: reason, agent_name}: Task): string {
  return `${display_id} is ${status} with ${agent_name}${reason === undefined ? '' : `: ${oneLine(reason)}`}`
}

export const acceptedLine = ({display_id, agent_name, status, duplicate}: Accepted): string =>
  duplicate
    ? `${display_id} was there already under this key, ${status} with ${agent_name}.`
    : `${display_id} is ${status} with ${agent_name}.`

export function formatTasks(tasks: readonly Task[], now = Date.now()): string {
  if (tasks.length === 0) return 'No tasks.\n'
  return formatTable(
    ['TASK', 'STATUS', 'PRIORITY', 'AGENT', 'PROCESSOR', 'CREATED', 'DESCRIPTION'],
    tasks.map((task) => [
      task.display_id,
      statusUntil(task, now),
      task.priority,
      oneLine(task.agent_name),
      task.processor,
      time(task.created_at_ms),
      excerpt(task.description),
    ]),
  )
}

const statusUntil = ({status, not_before_ms: due = 0}: Task, now: number): string =>
  status === 'Queued' && due > now ? `Queued until ${time(due)}` : status

/** All that a person wants to know of a task: its facts, what it asks for, what came of it. */
export function formatTask(task: Task, names: IdNames): string {
  const facts = taskFacts.flatMap(([name, of]) => {
    const value = of(task, names)
    return value === undefined || value === '' ? [] : [[name, oneLine(value)]]
  })
  const [first = [], ...others] = facts
  const parts = [formatTable(first, others), `${plain(task.description)}\n`]
  if (task.audit_report !== undefined) parts.push(`Report: ${plain(task.audit_report)}\n`)
  if (task.result !== undefined) parts.push(`Result:\n${plain(task.result.text)}\n`)
  else if (task.output !== undefined) parts.push(outputEnd(task.display_id, plain(task.output.text).split('\n')))
  return parts.join('\n')
}

const mostOutputLines = 20

/** The last lines of an output, and where the others are. */
const outputEnd = (task: string, lines: readonly string[]): string =>
  lines.length <= mostOutputLines
    ? `Output:\n${lines.join('\n')}\n`
    : `Output, its last ${mostOutputLines} lines (all of it: svc orch task ${task} --output):\n${lines.slice(-mostOutputLines).join('\n')}\n`

const taskFacts: readonly (readonly [name: string, of: (task: Task, names: IdNames) => string | undefined])[] = [
  ['task', ({display_id, uid}) => `${display_id} (${uid})`],
  ['status', ({status, current_phase: phase}) => (phase === undefined ? status : `${status}, ${phase}`)],
  ['reason', ({status_reason}) => status_reason],
  ['agent', ({agent_name}) => agent_name],
  ['priority', ({priority}) => priority],
  ['category', ({category, complexity}) => `${category}, complexity ${complexity}`],
  ['role', ({execution_role}) => execution_role],
  ['processor', ({processor, exec}) => (exec === undefined ? processor : `${processor} ${exec.template}`)],
  ['files', ({file_manifest: files}) => files.map(({path, access}) => `${path}:${access}`).join(', ')],
  ['after', ({depends_on: ids}, {displayTask}) => ids.map(displayTask).join(', ')],
  ['waits for', ({blocked_on: id}, {displayTask}) => (id === undefined ? undefined : displayTask(id))],
  ['needs', ({capability_requirements: needs}) => (needs === undefined ? undefined : needed(needs))],
  ['claim', ({claim}) => (claim === undefined ? undefined : `${claim.generation} of ${claim.owner}`)],
  ['timeout', ({task_timeout_ms: ms}) => (ms === undefined ? undefined : `${ms / 1000} s`)],
  ['retries', ({retry_count: count, retries}) => retriesText(count, retries)],
  ['session', ({session_id}) => session_id],
  ['trace', ({trace_id}) => trace_id],
  ['created', ({created_at_ms}) => time(created_at_ms)],
  ['not before', ({not_before_ms: due}) => (due === undefined ? undefined : time(due))],
  ['started', ({started_at_ms: at}) => (at === undefined ? undefined : time(at))],
  ['finished', ({finished_at_ms: at}) => (at === undefined ? undefined : time(at))],
]

const retriesText = (count: number, most: number | undefined): string | undefined => {
  if (most !== undefined) return `${count}, at most ${most} after failures`
  return count === 0 ? undefined : String(count)
}

/** What of the capabilities is asked for. */
const needed = (needs: object): string =>
  Object.entries(needs)
    .filter(([, value]) => value !== false && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => (value === true ? name : `${name} ${String(value)}`))
    .join(', ')

export const agentLine = ({display_id, name, state}: Pick<Agent, 'display_id' | 'name' | 'state'>): string =>
  `${name} (${display_id}) is ${state}`

export function formatAgents(agents: readonly Agent[]): string {
  if (agents.length === 0) return 'No agents; the first task spawns one.\n'
  return formatTable(
    ['AGENT', 'NAME', 'KIND', 'STATE', 'QUEUED', 'RUNNING', 'DOUBTED', 'COMPLETED', 'LOAD', 'TOKENS', 'PHASE'],
    agents.map((agent) => [
      agent.display_id,
      oneLine(agent.name),
      agent.kind,
      agent.state,
      String(agent.queued),
      String(agent.running),
      String(agent.doubted),
      String(agent.completed),
      agent.weighted_load.toFixed(1),
      String(agent.tokens_used),
      agent.current_phase ?? '-',
    ]),
  )
}

/** How the orchestrator stands. */
export function formatStatus(report: StatusReport): string {
  const {daemon} = report
  const counts = [
    [report.total_queued, 'queued'],
    [report.total_in_progress, 'in progress'],
    [report.total_blocked, 'blocked'],
    [report.total_doubted, 'doubted'],
    [report.total_completed, 'completed'],
    [report.total_failed, 'failed'],
    [report.total_cancelled, 'cancelled'],
  ]
  const load = `${report.total_weighted_load.toFixed(1)} now, ${report.predicted_load.toFixed(1)} expected, ${report.scaling_profile} scaling`
  const rows = [
    ['daemon', daemon === null ? 'none: nothing runs the tasks' : describeDaemon(daemon)],
    ['tasks', counts.map(([count, what]) => `${count} ${what}`).join(', ')],
    ['files', `${report.locked_files} locked, ${report.total_contention} tasks wait for one`],
    ['load', load],
    ['agents', `${report.reserved_agents} reserved, ${report.dynamic_agents} dynamic`],
    ...(report.enabled ? [] : [['enabled', 'no: new tasks are refused']]),
  ]
  const ownStore = report.active_store === 'project' ? '' : ` (${report.active_store})`
  const facts = formatTable(['store', `${report.store}${ownStore}`], rows)
  return report.agents.length === 0 ? facts : `${facts}\n${formatAgents(report.agents)}`
}

const describeDaemon = ({pid, host, since_ms}: NonNullable<StatusReport['daemon']>) =>
  `process ${pid} on ${host}, since ${time(since_ms)}`

/** How ids are displayed; the module is loaded late. */
export interface IdNames {
  displayTask: (id: number) => string
  displayAgent: (id: number) => string
}

/** An event on one line: its id, its moment, its type, and a sentence. */
export const eventLine = ({id, timestamp_ms: at, kind}: EventRecord, names: IdNames): string =>
  `${String(id).padStart(5)}  ${time(at)}  ${kind.type.padEnd(19)}  ${describeEvent(kind, names)}`

/** What has happened, as a sentence. */
export const describeEvent = (event: OrchestratorEvent, names: IdNames): string => {
  const {displayTask, displayAgent} = names
  const {task_id: task, agent_id: agent} = event as {task_id?: number; agent_id?: number}
  const describe = descriptions[event.type] as (
    event: OrchestratorEvent,
    task: string,
    agent: string,
    names: IdNames,
  ) => string
  return oneLine(
    describe(event, task === undefined ? '' : displayTask(task), agent === undefined ? '' : displayAgent(agent), names),
  )
}

type EventOf<K, E = OrchestratorEvent> = E extends {type: infer T} ? (K extends T ? E : never) : never

type Tellings = {
  readonly [K in EventType]: (event: EventOf<K>, task: string, agent: string, names: IdNames) => string
}

const because = (reason: string | undefined) => (reason === undefined ? '' : `: ${reason}`)

const descriptions: Tellings = {
  task_submitted: ({description, status}, task, agent) => `${task} submitted, ${status} with ${agent}: ${description}`,
  task_placed: ({placement_reason}, task, agent) => `${task} placed with ${agent}: ${placement_reason}`,
  task_started: ({owner, generation}, task, agent) => `${task} started for ${agent} by ${owner}, claim ${generation}`,
  task_phase_changed: ({phase}, task) => `${task} goes on with ${phase}`,
  task_completed: ({audit_report: report}, task, agent) => `${task} completed by ${agent}${because(report)}`,
  task_failed: ({error}, task, agent) => `${task} failed with ${agent}: ${error}`,
  task_cancelled: ({reason}, task) => `${task} cancelled${because(reason)}`,
  task_requeued: ({reason}, task, agent) => `${task} queued again with ${agent}: ${reason}`,
  task_unblocked: (_, task, agent) => `${task} waits for no other task, queued with ${agent}`,
  task_approved: (_, task) => `${task} approved`,
  task_reordered: ({priority}, task) => `${task} is ${priority} now`,
  task_moved: ({from_agent_id: from}, task, agent, {displayAgent}) =>
    `${task} moved to ${agent} from ${displayAgent(from)}`,
  task_claim_overridden: ({owner, generation}, task) => `${task} taken over from ${owner}, claim ${generation}`,
  task_claim_expired: ({owner, generation}, task) => `${task} heard no more of ${owner}, claim ${generation}`,
  task_doubted: ({reason}, task, agent) => `${task} doubted by ${agent}${because(reason)}`,
  task_resolved: ({validated, report}, task) => `${task} ${validated ? 'validated' : 'doubted with reason'}: ${report}`,
  agent_spawned: ({name, reason}, _, agent) => `${agent} spawned as ${name}${because(reason)}`,
  agent_retired: ({name}, _, agent) => `${agent} retired, once ${name}`,
  agent_paused: (_, __, agent) => `${agent} paused`,
  agent_resumed: (_, __, agent) => `${agent} resumed`,
  agent_heartbeat: ({activity}, _, agent) => `${agent} is ${activity}`,
  scope_violation: ({path, reason}, _, agent) => `${agent} left its scope with ${path}: ${reason}`,
  cost_incurred: ({model, input_tokens: read, output_tokens: written, cost_usd: cost}, task) =>
    `${task === '' ? 'a call' : task} cost ${cost} USD: ${model} read ${read} tokens and wrote ${written}`,
  message_sent: ({message_id: id, sender_agent_id: from, msg_type: type}, _, agent, {displayAgent}) =>
    `message ${id} for ${agent} from ${displayAgent(from)}: ${type}`,
  message_dead_lettered: ({message_id: id, delivery_attempts: times, error}, _, agent) =>
    `message ${id} for ${agent} was delivered ${times} times and not acknowledged${because(error)}`,
  plan_session_created: ({plan_session_id: plan, strategy, nodes}) => `${plan} made, ${nodes} steps as ${strategy}`,
  plan_version_created: ({plan_session_id: plan, version}) => `${plan} has version ${version}`,
  replan_triggered: ({plan_session_id: plan, version, reason}, task) =>
    `${plan} made anew as version ${version}${task === '' ? '' : ` after ${task}`}: ${reason}`,
  plan_node_status: ({plan_session_id: plan, node_id, status, reason}, task) =>
    `${node_id} of ${plan} is ${status}${task === '' ? '' : ` as ${task}`}${because(reason)}`,
  urgent_rebalance_triggered: ({moved}) => `${moved} urgent tasks moved`,
  daemon_started: ({holder, fence}) => `daemon ${holder} started, term ${fence}`,
  daemon_stopped: ({holder, fence}) => `daemon ${holder} stopped, term ${fence}`,
  operation_undone: ({op_id, summary}) => `${op_id} undone: ${summary}`,
  operation_redone: ({op_id, summary}) => `${op_id} done again: ${summary}`,
  config_reloaded: ({changed}) => `settings read anew: ${changed.length === 0 ? 'none changed' : changed.join(', ')}`,
}

export const eventTypes = Object.keys(descriptions) as EventType[]
