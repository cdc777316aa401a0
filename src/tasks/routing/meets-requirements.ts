import {accelerators, type Capabilities, hardCapabilities} from '../base/capabilities.js'

/**
 * True if an agent has everything that a task requires. Routing does not use this, since it must place every task; it
 * only prevents moving an already placed task to an unsuitable agent.
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
