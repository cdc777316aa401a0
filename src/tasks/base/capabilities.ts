import type {Capabilities} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import type {HostProbe} from '../../mesh/index.js'
import {given} from './members.js'

export type {Capabilities}

/** Nothing offered, and nothing needed. */
export const noCapabilities: Capabilities = {
  gpu_cuda: false,
  gpu_metal: false,
  gpu_vulkan: false,
  gpu_webgpu: false,
  npu: false,
  visual_eligible: false,
  multi_modal: false,
  prefer_gpu_compute: false,
  labels: [],
}

/** What computes faster than a processor. */
export const accelerators = ['gpu_cuda', 'gpu_metal', 'gpu_vulkan', 'gpu_webgpu', 'npu'] as const
/** What an agent has or has not, and a task needs or does not. */
export const hardCapabilities = [...accelerators, 'visual_eligible', 'multi_modal'] as const

const flags = [...hardCapabilities, 'prefer_gpu_compute'] as const
const amounts = ['min_vram_mb', 'min_cpu_cores', 'cpu_cores'] as const
const words = ['device_class', 'arch', 'hostname', 'routing_tier'] as const

/**
 * Reads the wire form. Members that are missing or null take their default, unknown ones are ignored, blank text counts
 * as missing, and a label counts once.
 * @throws usage where a member has a wrong type
 */
export function parseCapabilities(value: unknown): Capabilities {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new SvcError('usage', {reason: `Capabilities take an object, not ${JSON.stringify(value) ?? 'nothing'}.`})
  const given = value as Record<string, unknown>
  const read: Capabilities = {...noCapabilities}
  for (const name of flags) if (hasValue(given, name)) read[name] = flag(name, given[name])
  for (const name of amounts) if (hasValue(given, name)) read[name] = amount(name, given[name])
  for (const name of words) {
    const word = hasValue(given, name) ? text(name, given[name]) : ''
    if (word !== '') read[name] = word
  }
  if (hasValue(given, 'labels')) read.labels = labels(given.labels)
  return read
}

const hasValue = (given: Record<string, unknown>, name: string) =>
  Object.hasOwn(given, name) && given[name] !== null && given[name] !== undefined

function flag(name: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw wrong(name, 'true or false', value)
  return value
}

function amount(name: string, value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw wrong(name, 'a whole number of at least 0', value)
  return value as number
}

function text(name: string, value: unknown): string {
  if (typeof value !== 'string') throw wrong(name, 'text', value)
  return value.trim()
}

function labels(value: unknown): string[] {
  if (!Array.isArray(value) || value.some((label) => typeof label !== 'string'))
    throw wrong('labels', 'an array of text', value)
  return distinctLabels(value as string[])
}

const distinctLabels = (all: readonly string[]) => [...new Set(all.map((label) => label.trim()).filter(Boolean))]

const wrong = (name: string, expected: string, value: unknown) =>
  new SvcError('usage', {reason: `The capability ${name} must be ${expected}, not ${JSON.stringify(value)}.`})

/**
 * What a new agent has: the configuration, overlaid with what the machine tells. The machine knows best what it is
 * (cores, architecture, name); the configuration knows best what it is for, so there the machine only fills gaps and
 * never takes anything away.
 */
export function mergeCapabilities(configured: Capabilities, probe: HostProbe): Capabilities {
  return {
    ...configured,
    ...given({
      cpu_cores: probe.cpu_cores,
      arch: probe.arch,
      hostname: probe.hostname,
      device_class: configured.device_class ?? probe.device_class,
      min_vram_mb: configured.min_vram_mb ?? probe.min_vram_mb,
      min_cpu_cores: configured.min_cpu_cores ?? probe.min_cpu_cores,
    }),
    gpu_cuda: configured.gpu_cuda || probe.gpu_cuda,
    gpu_vulkan: configured.gpu_vulkan || probe.gpu_vulkan,
    gpu_webgpu: configured.gpu_webgpu || probe.gpu_webgpu,
    npu: configured.npu || probe.npu,
    labels: distinctLabels([...configured.labels, ...probe.labels]),
  }
}
