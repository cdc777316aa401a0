import {execFile} from 'node:child_process'
import {meshSettings, resolveSettings, type SettingSources} from '../../config/index.js'
import type {NodeFacts} from '../protocol/node.js'

/** Result of a query of the GPUs of this machine. */
export interface GpuProbe {
  /** Memory of the largest healthy GPU, MiB. */
  vramMb?: number
  /** Members of the record of this node. If the query failed, only those of its readiness. */
  facts: Pick<
    NodeFacts,
    | 'gpu_total_count'
    | 'gpu_healthy_count'
    | 'gpu_allocatable_count'
    | 'gpu_inventory_source'
    | 'gpu_truth_layer'
    | 'nvidia_driver_version'
    | 'gpu_readiness_ok'
    | 'gpu_readiness_reason'
    | 'gpu_readiness_checked_unix_ms'
  >
}

/** Maximum duration of the query, ms. */
const timeoutMs = 2000

/** Result of the last query in this process, and the current query. */
let known: GpuProbe | undefined
let running: Promise<void> | undefined

/** Result of the query, if this process has made one and there is an `nvidia-smi`. */
export const knownGpus = (): GpuProbe | undefined => known

/**
 * Queries the GPUs with `nvidia-smi`, unless that is switched off. Records of this node and agents created later contain
 * the result. Only long-running commands do this, because it can take a second.
 */
export function probeGpus(sources: SettingSources): Promise<void> {
  running ??= readGpus(sources).then((probe) => {
    known = probe
    running = undefined
  })
  return running
}

const query = ['--query-gpu=memory.total,compute_mode,driver_version', '--format=csv,noheader,nounits']

/** Never fails. */
function readGpus(sources: SettingSources): Promise<GpuProbe | undefined> {
  if (resolveSettings(meshSettings, sources).values.gpuProbeOff) return Promise.resolve(undefined)
  const env = {...process.env, ...sources.env}
  return new Promise((resolve) => {
    execFile(
      'nvidia-smi',
      query,
      {timeout: timeoutMs, killSignal: 'SIGKILL', env, windowsHide: true},
      (error, text) => {
        if (error === null) resolve(inventoryOf(text))
        else resolve(error.code === 'ENOENT' ? undefined : {facts: readiness(failureOf(error))})
      },
    )
  })
}

function failureOf({killed, code}: {killed?: boolean | undefined; code?: string | number | null | undefined}): string {
  if (killed) return `nvidia-smi did not respond within ${timeoutMs / 1000} s`
  return typeof code === 'number' ? `nvidia-smi exited with status ${code}` : `nvidia-smi failed: ${code}`
}

/** Values that nvidia-smi prints for a faulty GPU, such as `[Unknown Error]` or `[GPU requires reset]`. */
const fault = /err|reset|lost/i

/** Parses a list with one GPU per line; other lines, such as `No devices were found`, are ignored. */
function inventoryOf(text: string): GpuProbe {
  const gpus = text
    .split('\n')
    .map((line) => line.split(',').map((value) => value.trim()))
    .filter((values) => values.length === 3)
  const healthy = gpus.filter((values) => !values.some((value) => fault.test(value)))
  const allocatable = healthy.filter(([, mode]) => mode !== 'Prohibited')
  // A GPU without memory of its own reports [N/A].
  const sizes = healthy.map(([size]) => Number(size)).filter((size) => Number.isSafeInteger(size) && size > 0)
  const [[, , driver] = []] = healthy
  return {
    ...(sizes.length === 0 ? {} : {vramMb: Math.max(...sizes)}),
    facts: {
      gpu_total_count: gpus.length,
      gpu_healthy_count: healthy.length,
      gpu_allocatable_count: allocatable.length,
      gpu_inventory_source: 'probed',
      gpu_truth_layer: 'layer_a_verified',
      ...(driver === undefined ? {} : {nvidia_driver_version: driver}),
      ...readiness(reasonOf(gpus.length, healthy.length, allocatable.length)),
    },
  }
}

/** Reason why no GPU can be used; undefined if one can. */
function reasonOf(total: number, healthy: number, allocatable: number): string | undefined {
  if (total === 0) return 'nvidia-smi lists no GPU'
  if (healthy === 0) return `nvidia-smi reports an error for ${total === 1 ? 'the GPU' : `all ${total} GPUs`}`
  return allocatable === 0 ? 'the compute mode Prohibited is set' : undefined
}

const readiness = (reason: string | undefined) => ({
  gpu_readiness_ok: reason === undefined,
  ...(reason === undefined ? {} : {gpu_readiness_reason: reason}),
  gpu_readiness_checked_unix_ms: Date.now(),
})
