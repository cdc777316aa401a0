import type {CapabilityHints} from './node.js'

/** Compute devices other than the CPU. */
export const accelerators = ['gpu_cuda', 'gpu_metal', 'gpu_vulkan', 'gpu_webgpu', 'npu'] as const
/** Capabilities that an agent or node either has or lacks. */
export const hardCapabilities = [...accelerators, 'visual_eligible', 'multi_modal'] as const

/** Words that must be equal if they are required. */
const words = ['arch', 'device_class'] as const

/** True if an agent or node has everything that a task or message requires. */
export function meetsRequirements(offered: CapabilityHints, needed: CapabilityHints): boolean {
  const {min_vram_mb: vram = 0, min_cpu_cores: cores = 0, labels = []} = needed
  return (
    hardCapabilities.every((flag) => !needed[flag] || offered[flag]) &&
    (!needed.prefer_gpu_compute || accelerators.some((flag) => offered[flag])) &&
    (offered.min_vram_mb ?? 0) >= vram &&
    (offered.cpu_cores ?? offered.min_cpu_cores ?? 0) >= cores &&
    words.every((word) => needed[word] === undefined || needed[word] === offered[word]) &&
    labels.every((label) => offered.labels?.includes(label))
  )
}
