import {counted} from '../../errors/index.js'
import {type NodeTimes, nodeConditions} from '../client/node-state.js'
import type {CapabilityHints, NodeRecord} from '../protocol/node.js'
import type {NodeRow} from './view.js'

/** Labels of the accelerator flags. */
const gpuWords: readonly [keyof CapabilityHints, string][] = [
  ['gpu_cuda', 'CUDA'],
  ['gpu_metal', 'Metal'],
  ['gpu_vulkan', 'Vulkan'],
  ['gpu_webgpu', 'WebGPU'],
  ['npu', 'NPU'],
]

/** Converts a node record to a table row. */
export function nodeRow(record: NodeRecord, times: NodeTimes): NodeRow {
  const {id, version, capabilities, last_seen_unix_ms, maintenance_until_unix_ms: until} = record
  const {cpu_usage_pct, running_tasks} = record
  const {labels = [], cpu_cores, arch} = capabilities
  const conditions = nodeConditions(record, times)
  return {
    id,
    version,
    conditions,
    last_seen_unix_ms,
    ...(until !== undefined && conditions.includes('maintenance') ? {maintenance_until_unix_ms: until} : {}),
    labels,
    gpu: gpuOf(record),
    cpu: [...(cpu_cores === undefined ? [] : [counted(cpu_cores, 'core')]), ...(arch === undefined ? [] : [arch])],
    ...(cpu_usage_pct === undefined ? {} : {cpu_usage_pct: Math.round(cpu_usage_pct)}),
    ...(running_tasks === undefined ? {} : {running_tasks}),
  }
}

/** Detected devices first, then advertised flags. */
function gpuOf(record: NodeRecord): string[] {
  const {capabilities, gpu_total_count: total, gpu_healthy_count: healthy, gpu_allocatable_count: free} = record
  const flags = gpuWords.filter(([flag]) => capabilities[flag] === true).map(([, word]) => word)
  const {min_vram_mb: vram} = capabilities
  const counts = [
    ...(total === undefined || total === 0 ? [] : [counted(total, 'GPU')]),
    ...(healthy === undefined || healthy === total ? [] : [`${healthy} healthy`]),
    ...(free === undefined || total === 0 ? [] : [`${free} free`]),
  ]
  const memory = vram === undefined ? [] : [vram < 1024 ? `${vram} MiB` : `${Math.round(vram / 102.4) / 10} GiB`]
  const notReady = record.gpu_readiness_ok === false ? [`not ready: ${record.gpu_readiness_reason ?? 'no reason'}`] : []
  return [...counts, ...flags, ...memory, ...notReady]
}
