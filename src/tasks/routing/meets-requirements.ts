import {accelerators, type Capabilities, hardCapabilities} from '../base/capabilities.js'

/**
 * Whether an agent has all that a task needs. Routing does not ask this, since a task is always put somewhere; a task
 * that has found its place is not moved to a worse one.
 */
export function meetsRequirements(offered: Capabilities, needed: Capabilities): boolean {
  const {min_vram_mb: vram = 0, min_cpu_cores: cores = 0, labels} = needed
  return (
    hardCapabilities.every((flag) => !needed[flag] || offered[flag]) &&
    (!needed.prefer_gpu_compute || accelerators.some((flag) => offered[flag])) &&
    (offered.min_vram_mb ?? 0) >= vram &&
    (offered.cpu_cores ?? 0) >= cores &&
    labels.every((label) => offered.labels.includes(label))
  )
}
