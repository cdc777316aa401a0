import type {ProveOptions} from './prove.js'
import type {Report} from './report.js'

/**
 * Runs a real control plane, treats it badly, and judges by what its clients saw and its file holds whether it kept what
 * it promises. Nothing of it is loaded before.
 * @throws control_plane_silent where the server does not start; the reason of the signal
 */
export async function prove(options: ProveOptions): Promise<Report> {
  const {runProof} = await import('./prove.js')
  return runProof(options)
}
