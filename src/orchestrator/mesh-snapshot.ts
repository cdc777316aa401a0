import {type MeshSnapshot, takeSnapshot} from '../mesh/index.js'
import {meshClientOf} from '../messages/index.js'
import type {TaskContext} from '../tasks/index.js'

export type {MeshSnapshot}

/**
 * Asks the control plane for its nodes. What goes wrong is part of the answer, never with a token in it; nothing is
 * routed by it.
 * @returns undefined where no control plane is configured
 * @throws what the signal was aborted with
 */
export function meshSnapshot({config, now}: TaskContext, signal?: AbortSignal): Promise<MeshSnapshot> | undefined {
  const client = meshClientOf(config)
  return client === undefined ? undefined : takeSnapshot(client, {maxStaleMs: config.maxStaleMs, now, signal})
}
