import type {Program} from '../check/index.js'
import {type Capabilities, capabilitiesOf} from './explain.js'

interface Policy extends Capabilities {
  table: string
  op: string
}

/** Facts about a program that are known before it runs: the distinct hints of its operations. */
export interface RuntimeProjection {
  schema_version: 1
  module_task_capability_hints?: {prefer_gpu_compute: boolean; labels: string[]}
  db_planning_policies: Policy[]
  host_capability_probe?: object
}

/** `hostProbe`: the capabilities of the machine that builds the program; undefined: not part of the projection. */
export function runtimeProjection(program: Program, hostProbe: object | undefined): RuntimeProjection {
  const policies = new Map<string, Policy>()
  for (const {chains} of program.functions)
    for (const chain of chains) {
      const policy: Policy = {table: chain.table.name, op: chain.op, ...capabilitiesOf(chain)}
      if (isDefault(policy)) continue
      policies.set(sortKey(policy), policy)
    }
  const rows = [...policies].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, policy]) => policy)
  const modes = rows.flatMap((row) => row.retrieval_mode ?? [])
  const scopes = rows.flatMap((row) => row.orchestration_scope ?? [])
  const labels = [
    ...modes.map((mode) => `svc:db_retrieval:${mode}`),
    ...scopes.map((scope) => `svc:orchestration_scope:${scope}`),
  ]
  const hints = {prefer_gpu_compute: modes.some((mode) => mode !== 'fts'), labels: [...new Set(labels)].sort()}
  return {
    schema_version: 1,
    ...(labels.length === 0 ? {} : {module_task_capability_hints: hints}),
    db_planning_policies: rows,
    ...(hostProbe === undefined ? {} : {host_capability_probe: hostProbe}),
  }
}

const isDefault = (policy: Policy) =>
  !policy.requires_sync &&
  !policy.emits_change_log &&
  policy.retrieval_mode === undefined &&
  policy.orchestration_scope === undefined

const sortKey = (policy: Policy) =>
  JSON.stringify([
    policy.table,
    policy.op,
    policy.requires_sync,
    policy.emits_change_log,
    policy.live_topic ?? '',
    policy.retrieval_mode ?? '',
    policy.orchestration_scope ?? '',
  ])
