/** The metric types of this program, and the prefix of the session to which their rows belong. */
export const metricTypes = {
  benchmark_event: 'bench',
  mesh_control_event: 'mesh',
  mesh_exec_lease_reconcile: 'mesh',
  syntax_k_event: 'syntaxk',
  workflow_journal_entry: 'workflow',
} as const

export type MetricType = keyof typeof metricTypes

export const sessionOf = (type: MetricType, repositoryId: string): string => `${metricTypes[type]}:${repositoryId}`
