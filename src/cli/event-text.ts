import {counted, oneLine} from '../errors/index.js'
import type {EventRecord, EventType, OrchestratorEvent} from '../tasks/index.js'
import {seconds, time} from './cell-text.js'

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
    `attention budget: ${seconds(spent)} of ${seconds(max)} spent`,
  attention_budget_reset: ({spent_ms: spent, cause}) =>
    `attention budget reset ${cause === 'user' ? 'by hand' : 'at midnight'}; ${seconds(spent)} were spent`,
  urgent_rebalance_triggered: ({moved}) => `${moved} urgent tasks moved`,
  store_restored: ({last_event_id: last}) => `the store was restored; events after ${last} were undone`,
  daemon_started: ({holder, fence}) => `daemon ${holder} started, term ${fence}`,
  daemon_stopped: ({holder, fence}) => `daemon ${holder} stopped, term ${fence}`,
  operation_undone: ({op_id, summary}) => `${op_id} undone: ${summary}`,
  operation_redone: ({op_id, summary}) => `${op_id} redone: ${summary}`,
  config_reloaded: ({changed}) => `settings reloaded: ${changed.length === 0 ? 'none changed' : changed.join(', ')}`,
}

export const eventTypes = Object.keys(descriptions) as EventType[]
