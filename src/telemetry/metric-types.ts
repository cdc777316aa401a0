/** The metric types of this program, and the prefix of the session to which their rows belong. */
export const metricTypes = {
  agent_exec_time: 'agent',
  benchmark_event: 'bench',
  mesh_control_event: 'mesh',
  mesh_exec_lease_reconcile: 'mesh',
  model_call_event: 'route',
  model_route_event: 'route',
  syntax_k_event: 'syntaxk',
  workflow_journal_entry: 'workflow',
  task_phase_change: 'workflow',
  task_turn: 'workflow',
} as const

export type MetricType = keyof typeof metricTypes

export const sessionOf = (type: MetricType, repositoryId: string): string => `${metricTypes[type]}:${repositoryId}`
