import {formatMoment} from '../config/index.js'
import type {OrchAttentionV1} from '../contracts/index.js'
import {command, counted, oneLine} from '../errors/index.js'
import type {StatusReport} from '../orchestrator/index.js'
import type {Accepted, Agent, EventRecord, EventType, OrchestratorEvent, Task} from '../tasks/index.js'
import {formatFacts, formatTable, type TableView, wide, wrapped} from './table.js'

/** Removes control characters except line breaks and tabs, so that a text cannot control the terminal. */
export const plain = (text: string): string => text.replaceAll(/(?![\n\t])\p{Cc}/gu, '').trimEnd()

/** Maximum length of an excerpt, characters. */
const longestExcerpt = 72

/** The beginning of a text, on one line. */
export const excerpt = (text: string): string => {
  const line = oneLine(text)
  return line.length <= longestExcerpt ? line : `${line.slice(0, longestExcerpt - 1)}…`
}

export const time = formatMoment

const units: readonly (readonly [name: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
]

/** A duration in the largest unit: `45s`, `12m`, `3h`, `9d`; `0s` if it is negative. */
export function durationText(ms: number): string {
  const [name, length] = units.find(([, unit]) => ms >= unit) ?? ['s', 1000]
  return `${Math.max(0, Math.floor(ms / length))}${name}`
}

/** The time since a moment: `45s`, `12m`, `3h`, `9d`. */
export const age = (ms: number, now = Date.now()): string => durationText(now - ms)

/** `2026-12-01 08:00:30`, UTC. */
export const dateTime = (ms: number): string => time(ms).replace(/^([+-]?\d+-\d\d-\d\d)T(\d\d:\d\d:\d\d).*$/, '$1 $2')

/** `T-0001 is Failed (agent core): no luck` */
export function taskLine({display_id, status, status_reason: reason, agent_name}: Task): string {
  return `${display_id} is ${status} (agent ${agent_name})${reason === undefined ? '' : `: ${oneLine(reason)}`}`
}

export const acceptedLine = ({display_id, agent_name, status, duplicate}: Accepted): string =>
  duplicate
    ? `${display_id} already exists under this key and is ${status} (agent ${agent_name}).`
    : `${display_id} is ${status} (agent ${agent_name}).`

export const formatTasks = (tasks: readonly Task[], view?: TableView, now = Date.now()): string =>
  formatTable(
    [
      'TASK',
      'STATUS',
      'PRIORITY',
      wrapped('AGENT'),
      'AGE',
      wide('PROCESSOR'),
      wide('CREATED'),
      wide('NOT BEFORE'),
      wrapped('DESCRIPTION'),
    ],
    tasks.map((task) => [
      task.display_id,
      statusUntil(task, now),
      task.priority,
      oneLine(task.agent_name),
      age(task.created_at_ms, now),
      task.processor,
      time(task.created_at_ms),
      task.not_before_ms === undefined ? '-' : time(task.not_before_ms),
      excerpt(task.description),
    ]),
    view,
    'No tasks.',
  )

/** `Queued, 5m left` for a task that starts later. */
const statusUntil = ({status, not_before_ms: due = 0}: Task, now: number): string =>
  status === 'Queued' && due > now ? `Queued, ${durationText(due - now)} left` : status

/** A task with its facts, description, report, and result or output. */
export function formatTask(task: Task, names: IdNames, width?: number): string {
  const facts = taskFacts.flatMap(([name, of]) => {
    const value = of(task, names)
    return value === undefined || value === '' ? [] : [[name, oneLine(value)]]
  })
  const parts = [formatFacts(facts, width), `${plain(task.description)}\n`]
  if (task.audit_report !== undefined) parts.push(`Report: ${plain(task.audit_report)}\n`)
  const gates = task.evaluation === undefined ? '' : formatGates(task.evaluation)
  if (gates !== '') parts.push(gates)
  if (task.result !== undefined) parts.push(`Result:\n${plain(task.result.text)}\n`)
  else if (task.output !== undefined) parts.push(outputEnd(task.display_id, plain(task.output.text).split('\n')))
  return parts.join('\n')
}

type Evaluation = NonNullable<Task['evaluation']>

/** The findings of the gates that did not simply pass, one per line. */
export function formatGates({gates, gate, iteration, cap}: Evaluation): string {
  const notable = gates.filter(({verdict, findings}) => verdict !== 'pass' || findings.length > 0)
  const lines = notable.flatMap(({gate: name, verdict, shadow, findings}) => [
    `  ${name}: ${verdict}${shadow ? ' (shadow)' : ''}`,
    ...findings.map(({severity, path, line, message, rule}) => {
      const place = path === undefined ? '' : `${oneLine(path)}${line === undefined ? '' : `:${line}`}: `
      return `    ${severity}: ${place}${oneLine(message)} (${rule})`
    }),
  ])
  if (lines.length === 0) return ''
  const title = gate === undefined ? 'Gates:' : `Gates: returned by ${gate}, ${iteration} of ${cap}`
  return [title, ...lines, ''].join('\n')
}

/** The evidence for a completion with its grade and age. */
export function formatEvidence(
  {files, checks, owed, observations, evaluated_at_ms: at}: Evaluation,
  view?: TableView,
): string {
  const ageOf = (ms: number | undefined) => (ms === undefined ? '-' : age(ms, at))
  const rows = [
    ...owed.map(({kind, item, state, grade = '-', at_ms}) => [kind, oneLine(item), state, grade, ageOf(at_ms)]),
    ...checks.map(({check, passed, grade, started_at_ms}) => [
      'result',
      oneLine(check),
      passed ? 'passed' : 'failed',
      grade,
      ageOf(started_at_ms),
    ]),
    ...files.map(({path, change, written_at_ms}) => ['file', oneLine(path), change, 'observed', ageOf(written_at_ms)]),
  ]
  const table = formatTable(['KIND', wrapped('ITEM'), 'STATE', 'GRADE', 'AGE'], rows, view, 'No evidence.')
  return [table, ...observations.map(({message}) => `${oneLine(message)}\n`)].join('')
}

const maxOutputLines = 20

/** The last lines of an output, and the command that prints all of it. */
const outputEnd = (task: string, lines: readonly string[]): string =>
  lines.length <= maxOutputLines
    ? `Output:\n${lines.join('\n')}\n`
    : `Output, last ${maxOutputLines} lines (complete: ${command`svc orch task ${task} --output`}):\n${lines.slice(-maxOutputLines).join('\n')}\n`

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
  [
    'tests',
    ({test_decision: decision, test_rationale: why}) =>
      decision === undefined || decision === 'deferred' ? undefined : `${decision}: ${why}`,
  ],
  ['after', ({depends_on: ids}, {displayTask}) => ids.map(displayTask).join(', ')],
  ['plan', ({plan_session_id: plan, plan_node_id: step}) => (plan === undefined ? undefined : `${plan}, step ${step}`)],
  ['waits for', ({blocked_on: id}, {displayTask}) => (id === undefined ? undefined : displayTask(id))],
  ['needs', ({capability_requirements: needs}) => (needs === undefined ? undefined : requirementsText(needs))],
  ['checks', ({harness}) => harness?.required_checks.map(({check}) => check).join(', ')],
  ['artifacts', ({harness}) => harness?.required_artifacts.join(', ')],
  ['accept', ({harness}) => harness?.accept.map((line, i) => `${i + 1}. ${line}`).join(' ')],
  [
    'node',
    ({remote_delegate: remote, result}) =>
      remote === undefined
        ? (result as {remote?: {worker_node_id?: string}} | undefined)?.remote?.worker_node_id
        : `${remote.worker_node_id ?? 'not started yet'}, lease ${remote.lease_id ?? 'not granted yet'}`,
  ],
  ['lost node', ({lost_node}) => (lost_node === undefined ? undefined : lostNodeText(lost_node))],
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

const lostNodeText = ({after_ms: ms, replace, reconcile}: NonNullable<Task['lost_node']>): string =>
  [
    ms === undefined ? undefined : `after ${ms / 1000} s`,
    replace === undefined ? undefined : replace ? 'replaced' : 'not replaced',
    reconcile,
  ]
    .filter((part) => part !== undefined)
    .join(', ')

const retriesText = (count: number, limit: number | undefined): string | undefined => {
  if (limit !== undefined) return `${count}, maximum ${limit} after failures`
  return count === 0 ? undefined : String(count)
}

/** The required capabilities: `gpu_cuda, min_vram_mb 8000`. */
const requirementsText = (needs: object): string =>
  Object.entries(needs)
    .filter(([, value]) => value !== false && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => (value === true ? name : `${name} ${String(value)}`))
    .join(', ')

export const agentLine = ({display_id, name, state}: Pick<Agent, 'display_id' | 'name' | 'state'>): string =>
  `${name} (${display_id}) is ${state}`

export const formatAgents = (agents: readonly Agent[], view?: TableView): string =>
  formatTable(
    [
      'AGENT',
      wrapped('NAME'),
      wide('KIND'),
      'STATE',
      'QUEUED',
      'RUNNING',
      wide('DOUBTED'),
      'COMPLETED',
      wide('LOAD'),
      wide('TOKENS'),
      wrapped('PHASE'),
    ],
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
    view,
    'No agents. The first task creates one.',
  )

export function formatStatus(report: StatusReport, view: TableView = {}): string {
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
    ['daemon', daemon === null ? 'not running; queued tasks wait' : describeDaemon(daemon)],
    ['tasks', counts.map(([count, status]) => `${count} ${status}`).join(', ')],
    ['files', `${report.locked_files} locked, ${counted(report.total_contention, 'task')} waiting for a file`],
    ['load', load],
    ['agents', `${report.reserved_agents} reserved, ${report.dynamic_agents} dynamic`],
    ...meshRow(report.mesh_federation_cache),
    ...(report.stopped === null ? [] : [['stopped', stopText(report.stopped)]]),
    ...(report.enabled ? [] : [['enabled', 'no: new tasks are refused']]),
  ]
  const ownStore = report.active_store === 'project' ? '' : ` (${report.active_store})`
  const facts = formatFacts([['store', `${report.store}${ownStore}`], ...rows], view.width)
  return report.agents.length === 0 ? facts : `${facts}\n${formatAgents(report.agents, view)}`
}

const meshRow = (cache: StatusReport['mesh_federation_cache']): string[][] =>
  cache === undefined
    ? []
    : [
        [
          'mesh',
          `${cache.ok ? counted(cache.node_count, 'node') : cache.error} (polled at ${time(cache.fetched_at_unix_ms)})`,
        ],
      ]

const stopText = ({at_ms, reason}: NonNullable<StatusReport['stopped']>) =>
  `since ${time(at_ms)}${reason === undefined ? '' : `: ${oneLine(reason)}`}; run \`svc orch start\` to continue`

const describeDaemon = ({pid, host, since_ms}: NonNullable<StatusReport['daemon']>) =>
  `pid ${pid} on ${host}, since ${time(since_ms)}`

/** The attention budget, and the latest events. */
export function formatAttention(
  {budget, events}: OrchAttentionV1,
  displayTask: IdNames['displayTask'],
  view: TableView = {},
): string {
  const {spent_ms: spent, max_attention_ms: max, spent_ratio: ratio, signal, total_requests: total} = budget
  const facts = formatFacts(
    [
      ['attention', `${duration(spent)} of ${duration(max)} spent (${Math.round(100 * ratio)} %), ${signal}`],
      ['focus', `${budget.focus_depth}, ${budget.interrupt_freq_per_hour.toFixed(1)} interruptions per hour`],
      ['requests', `${total}, ${budget.auto_approved} approved automatically, ${budget.rejected} rejected`],
      ...(budget.enabled ? [] : [['enabled', 'no: nothing is counted']]),
    ],
    view.width,
  )
  if (events.length === 0) return facts
  const rows = events.map((event) => [
    age(event.timestamp_ms),
    event.event_type,
    event.task_id === undefined ? '-' : displayTask(event.task_id),
    event.tier ?? '-',
    duration(event.cost_ms),
    event.outcome ?? event.policy_reason ?? '-',
  ])
  return `${facts}\n${formatTable(['AGE', 'REQUEST', 'TASK', 'TIER', 'COST', wrapped('OUTCOME')], rows, view)}`
}

/** Functions that format ids. A parameter, because their module is loaded on demand. */
export interface IdNames {
  displayTask: (id: number) => string
  displayAgent: (id: number) => string
}

/** An event on one line: id, time, type and description. */
export const eventLine = ({id, timestamp_ms: at, kind}: EventRecord, names: IdNames): string =>
  `${String(id).padStart(5)}  ${time(at)}  ${kind.type.padEnd(19)}  ${describeEvent(kind, names)}`

/** The description of an event. */
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

type Descriptions = {
  readonly [K in EventType]: (event: EventOf<K>, task: string, agent: string, names: IdNames) => string
}

const duration = (ms: number) => `${Math.round(ms / 1000)} s`

const because = (reason: string | undefined) => (reason === undefined ? '' : `: ${reason}`)

const descriptions: Descriptions = {
  task_submitted: ({description, status}, task, agent) => `${task} submitted to ${agent}, ${status}: ${description}`,
  task_placed: ({placement_reason}, task, agent) => `${task} placed on ${agent}: ${placement_reason}`,
  task_started: ({owner, generation}, task, agent) => `${task} started on ${agent} by ${owner}, claim ${generation}`,
  task_phase_changed: ({phase}, task) => `${task} entered phase ${phase}`,
  task_completed: ({audit_report: report}, task, agent) => `${task} completed by ${agent}${because(report)}`,
  task_failed: ({error}, task, agent) => `${task} failed on ${agent}: ${error}`,
  task_cancelled: ({reason}, task) => `${task} cancelled${because(reason)}`,
  task_requeued: ({reason}, task, agent) => `${task} requeued on ${agent}: ${reason}`,
  task_unblocked: (_, task, agent) => `${task} unblocked, queued on ${agent}`,
  task_approved: ({by}, task) => `${task} approved${by === undefined ? '' : ` by ${by}`}`,
  task_gated: ({outcome, gate, iteration, cap, gates}, task) =>
    gate === undefined
      ? `${task} ${outcome}; findings of ${gates.map((each) => each.gate).join(', ')}`
      : `${task} ${outcome} by the gate ${gate}, ${iteration} of ${cap}`,
  task_reordered: ({priority}, task) => `${task} priority changed to ${priority}`,
  task_moved: ({from_agent_id: from}, task, agent, {displayAgent}) =>
    `${task} moved from ${displayAgent(from)} to ${agent}`,
  task_handed_off: ({from_agent_id: from, handoff_count: count}, task, agent, {displayAgent}) =>
    `${task} handed over from ${displayAgent(from)} to ${agent}, hand-over ${count}`,
  task_claim_overridden: ({owner, generation}, task) => `${task} claim ${generation} of ${owner} overridden`,
  task_claim_expired: ({owner, generation}, task) => `${task} claim ${generation} of ${owner} expired`,
  task_doubted: ({reason}, task, agent) => `${task} doubted by ${agent}${because(reason)}`,
  task_resolved: ({validated, report}, task) => `${task} ${validated ? 'validated' : 'doubt justified'}: ${report}`,
  question_asked: ({question_id: question, session_id: session}) => `${question} asked in session ${session}`,
  question_answered: ({question_id: question}) => `${question} answered`,
  agent_spawned: ({name, reason}, _, agent) => `${agent} spawned as ${name}${because(reason)}`,
  agent_retired: ({name}, _, agent) => `${agent} (${name}) retired`,
  agent_paused: (_, __, agent) => `${agent} paused`,
  agent_resumed: (_, __, agent) => `${agent} resumed`,
  agent_heartbeat: ({activity}, _, agent) => `${agent} is ${activity}`,
  scope_violation: ({path, reason}, _, agent) => `${path} is outside the scope of ${agent}: ${reason}`,
  injection_detected: (_, task) => `${task} has a description that tries to override instructions`,
  prompt_conflict_detected: ({paths}, task) =>
    `the description of ${task} excludes files that it writes: ${paths.join(', ')}`,
  context_envelope_violation: ({key, violations}, task) =>
    `context envelope of ${task === '' ? (key ?? 'a session') : task} does not match its contract: ${violations.join('; ')}`,
  cost_incurred: ({model, input_tokens: input, output_tokens: output, cost_usd: cost}, task) =>
    `${task === '' ? 'a call' : task} cost ${cost} USD: ${model}, ${input} input tokens, ${output} output tokens`,
  budget_alert: ({kind, used, limit}, _, agent) =>
    kind === 'tokens'
      ? `${agent} has used ${used} of ${limit} tokens today`
      : `${agent} has spent ${(used / 1e6).toFixed(2)} of ${(limit / 1e6).toFixed(2)} USD today`,
  emergency_stop: ({requeued, reason}) => `emergency stop, ${requeued} running tasks requeued${because(reason)}`,
  orchestrator_started: () => 'tasks are accepted and started again',
  agent_idle: ({level, idle_ms: ms}, _, agent) => `${agent} has been idle for ${Math.round(ms / 1000)} s: ${level}`,
  orchestrator_idle: ({idle_ms: ms}) => `no work for ${Math.round(ms / 1000)} s`,
  continuation_triggered: ({continuation, idle_ms: ms}, task, agent) =>
    `${task} submitted to continue ${agent} after ${Math.round(ms / 1000)} s, continuation ${continuation}`,
  session_created: ({session_id: id}, _, agent) => `${id} created for ${agent}`,
  session_reset: ({session_id: id, turns_cleared: count}) => `${id} reset, ${counted(count, 'turn')} deleted`,
  lock_acquired: ({paths}, task, agent) => `${agent} locked files for ${task}: ${paths.join(', ')}`,
  files_changed: ({paths}, task) => `${task} changed ${paths.join(', ')}`,
  context_updated: ({key}) => `the context ${key} was set`,
  message_broadcast: ({msg_type: type, delivered_to: count}, _, agent) =>
    `${agent} broadcast ${type} to ${counted(count, 'agent')}`,
  message_sent: ({message_id: id, sender_agent_id: from, msg_type: type}, _, agent, {displayAgent}) =>
    `message ${id} from ${displayAgent(from)} to ${agent}: ${type}`,
  message_claim_overridden: ({message_id: id, owner}, _, agent) =>
    `message ${id} to ${agent} acknowledged, claim of ${owner} overridden`,
  message_dead_lettered: ({message_id: id, delivery_attempts: attempts, error}, _, agent) =>
    `message ${id} to ${agent} dead-lettered after ${attempts} deliveries${because(error)}`,
  workflow_started: ({run_id: run, workflow}) => `workflow ${workflow} started, run ${run}`,
  workflow_runs_pruned: ({runs}) => `${runs} old workflow runs deleted`,
  workflow_completed: ({run_id: run}) => `run ${run} completed`,
  workflow_failed: ({run_id: run, error}) => `run ${run} failed: ${error}`,
  workflow_cancelled: ({run_id: run}) => `run ${run} cancelled`,
  activity_started: ({run_id: run, activity}) => `run ${run}: ${activity} started`,
  activity_completed: ({run_id: run, activity}) => `run ${run}: ${activity} completed`,
  activity_retried: ({run_id: run, activity, attempt, error}) =>
    `run ${run}: attempt ${attempt} of ${activity} failed: ${error}`,
  plan_session_created: ({plan_session_id: plan, strategy, nodes}) =>
    `${plan} created, ${counted(nodes, 'step')}, ${strategy}`,
  planning_routed: ({strategy, reasons, shadow, plan_session_id: plan}, task) =>
    `${plan ?? task}: ${strategy} (${reasons.join(', ')})${shadow ? ', only recorded' : ''}`,
  plan_version_created: ({plan_session_id: plan, version}) => `${plan} version ${version} created`,
  replan_triggered: ({plan_session_id: plan, version, reason}, task) =>
    `${plan} replanned as version ${version}${task === '' ? '' : ` after ${task}`}: ${reason}`,
  plan_node_status: ({plan_session_id: plan, node_id, status, reason}, task) =>
    `${node_id} of ${plan} is ${status}${task === '' ? '' : ` (${task})`}${because(reason)}`,
  attention_budget_alert: ({spent_ms: spent, max_ms: max}) =>
    `attention budget: ${duration(spent)} of ${duration(max)} spent`,
  attention_budget_reset: ({spent_ms: spent, cause}) =>
    `attention budget reset ${cause === 'user' ? 'by hand' : 'at midnight'}; ${duration(spent)} were spent`,
  urgent_rebalance_triggered: ({moved}) => `${moved} urgent tasks moved`,
  store_restored: ({last_event_id: last}) => `the store was restored; events after ${last} were undone`,
  daemon_started: ({holder, fence}) => `daemon ${holder} started, term ${fence}`,
  daemon_stopped: ({holder, fence}) => `daemon ${holder} stopped, term ${fence}`,
  operation_undone: ({op_id, summary}) => `${op_id} undone: ${summary}`,
  operation_redone: ({op_id, summary}) => `${op_id} redone: ${summary}`,
  config_reloaded: ({changed}) => `settings reloaded: ${changed.length === 0 ? 'none changed' : changed.join(', ')}`,
}

export const eventTypes = Object.keys(descriptions) as EventType[]
