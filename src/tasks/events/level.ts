import type {EventType} from './event.js'

/** Log levels, least verbose first. */
export const logLevels = ['error', 'warn', 'info', 'debug', 'trace'] as const
export type LogLevel = (typeof logLevels)[number]

/** The log level of each event type. */
const levels: Readonly<Record<EventType, LogLevel>> = {
  task_failed: 'error',
  emergency_stop: 'warn',
  budget_alert: 'warn',
  agent_idle: 'warn',
  scope_violation: 'warn',
  injection_detected: 'warn',
  prompt_conflict_detected: 'warn',
  context_envelope_violation: 'warn',
  task_claim_expired: 'warn',
  task_claim_overridden: 'warn',
  task_doubted: 'warn',
  task_requeued: 'warn',
  task_gated: 'warn',
  replan_triggered: 'warn',
  urgent_rebalance_triggered: 'warn',
  message_dead_lettered: 'warn',
  attention_budget_alert: 'warn',
  agent_paused: 'info',
  agent_resumed: 'info',
  agent_retired: 'info',
  agent_spawned: 'info',
  attention_budget_reset: 'info',
  config_reloaded: 'info',
  daemon_started: 'info',
  daemon_stopped: 'info',
  continuation_triggered: 'info',
  operation_redone: 'info',
  operation_undone: 'info',
  orchestrator_idle: 'info',
  orchestrator_started: 'info',
  plan_node_status: 'info',
  plan_session_created: 'info',
  workflow_started: 'info',
  workflow_completed: 'info',
  workflow_failed: 'warn',
  workflow_cancelled: 'info',
  activity_started: 'debug',
  activity_completed: 'debug',
  activity_retried: 'info',
  plan_version_created: 'info',
  planning_routed: 'info',
  question_answered: 'info',
  question_asked: 'info',
  session_created: 'info',
  session_reset: 'info',
  task_approved: 'info',
  task_cancelled: 'info',
  task_completed: 'info',
  task_handed_off: 'info',
  task_moved: 'info',
  task_reordered: 'info',
  task_resolved: 'info',
  task_started: 'info',
  task_submitted: 'info',
  task_unblocked: 'info',
  message_broadcast: 'info',
  context_updated: 'debug',
  cost_incurred: 'debug',
  files_changed: 'debug',
  lock_acquired: 'debug',
  message_sent: 'debug',
  task_phase_changed: 'debug',
  task_placed: 'debug',
  agent_heartbeat: 'trace',
}

/** True if an event is logged at a level; an unknown level counts as `info`. */
export function isLogged(type: EventType, level: string): boolean {
  const index = logLevels.indexOf(level.toLowerCase() as LogLevel)
  return logLevels.indexOf(levels[type]) <= (index === -1 ? logLevels.indexOf('info') : index)
}
