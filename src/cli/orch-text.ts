import type {OrchAttentionV1} from '../contracts/index.js'
import {command, counted, oneLine} from '../errors/index.js'
import type {StatusReport} from '../orchestrator/index.js'
import type {Accepted, Agent, Task} from '../tasks/index.js'
import {age, beginning, durationText, plain, seconds, time} from './cell-text.js'
import type {IdNames} from './event-text.js'
import {formatFacts, formatTable, type TableView, wide, wrapped} from './table.js'

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
      beginning(task.description),
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
      ['attention', `${seconds(spent)} of ${seconds(max)} spent (${Math.round(100 * ratio)} %), ${signal}`],
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
    seconds(event.cost_ms),
    event.outcome ?? event.policy_reason ?? '-',
  ])
  return `${facts}\n${formatTable(['AGE', 'REQUEST', 'TASK', 'TIER', 'COST', wrapped('OUTCOME')], rows, view)}`
}
