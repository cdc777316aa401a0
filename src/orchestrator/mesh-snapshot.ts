import {type MeshSnapshot, takeSnapshot} from '../mesh/index.js'
import {meshClientOf} from '../messages/index.js'
import type {WorkspaceContext} from '../workspace/index.js'

export type {MeshSnapshot}

/**
 * Requests the nodes from the control plane. Errors are part of the result and never contain a token. Routing does not
 * use the result.
 * @returns undefined if no control plane is configured
 * @throws the abort reason of the signal
 */
export function meshSnapshot({config, now}: WorkspaceContext, signal?: AbortSignal): Promise<MeshSnapshot> | undefined {
  const client = meshClientOf(config)
  return client === undefined ? undefined : takeSnapshot(client, {maxStaleMs: config.maxStaleMs, now, signal})
}
