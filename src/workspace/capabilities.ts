import {type Capabilities, isObject, withoutUndefined} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {type HostProbe, hardCapabilities} from '../mesh/index.js'

export {type Capabilities, hardCapabilities}

/** No capabilities offered or required. */
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

const flags = [...hardCapabilities, 'prefer_gpu_compute'] as const
const amounts = ['min_vram_mb', 'min_cpu_cores', 'cpu_cores'] as const
const words = ['device_class', 'arch', 'hostname', 'routing_tier'] as const

/**
 * Parses the wire form. Missing and null members take their default, unknown members are ignored, blank text counts as
 * missing, and duplicate labels are removed.
 * @throws usage if a member has the wrong type
 */
export function parseCapabilities(value: unknown): Capabilities {
  if (!isObject(value))
    throw new SvcError('usage', {reason: `Capabilities must be an object, not ${JSON.stringify(value) ?? 'nothing'}.`})
  const members = value as Record<string, unknown>
  const read: Capabilities = {...noCapabilities}
  for (const name of flags) if (hasValue(members, name)) read[name] = flag(name, members[name])
  // The former spelling on the wire.
  const visus = 'visus_eligible'
  if (!hasValue(members, 'visual_eligible') && hasValue(members, visus))
    read.visual_eligible = flag(visus, members[visus])
  for (const name of amounts) if (hasValue(members, name)) read[name] = amount(name, members[name])
  for (const name of words) {
    const word = hasValue(members, name) ? text(name, members[name]) : ''
    if (word !== '') read[name] = word
  }
  const strict = 'is_low_confidence_bypass_blocked'
  if (hasValue(members, strict) && flag(strict, members[strict])) read[strict] = true
  if (hasValue(members, 'labels')) read.labels = labels(members.labels)
  return read
}

const hasValue = (members: Record<string, unknown>, name: string) =>
  Object.hasOwn(members, name) && members[name] !== null && members[name] !== undefined

function flag(name: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw wrong(name, 'true or false', value)
  return value
}

function amount(name: string, value: unknown): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw wrong(name, 'a whole number of at least 0', value)
  return value as number
}

function text(name: string, value: unknown): string {
  if (typeof value !== 'string') throw wrong(name, 'a string', value)
  return value.trim()
}

function labels(value: unknown): string[] {
  if (!Array.isArray(value) || value.some((label) => typeof label !== 'string'))
    throw wrong('labels', 'an array of strings', value)
  return distinctLabels(value as string[])
}

const distinctLabels = (all: readonly string[]) => [...new Set(all.map((label) => label.trim()).filter(Boolean))]

const wrong = (name: string, expected: string, value: unknown) =>
  new SvcError('usage', {reason: `The capability ${name} must be ${expected}, not ${JSON.stringify(value)}.`})

/**
 * Capabilities of a new agent: the configuration merged with the probed machine. The machine's values win for cores,
 * architecture and name. For everything else the machine only fills gaps and never removes a configured value.
 */
export function mergeCapabilities(configured: Capabilities, probe: HostProbe): Capabilities {
  return {
    ...configured,
    ...withoutUndefined({
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
