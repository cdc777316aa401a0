import {SvcError} from '../../errors/index.js'
import type {MeshClient} from '../../mesh/index.js'
import type {MessageContext} from '../context.js'
import {meshClientOf} from './mesh-client.js'

/** True if a control plane for messages to other machines is configured. */
export const hasMesh = ({config}: MessageContext): boolean => config.controlUrl !== undefined

/** The client for messages to other machines. @throws mesh_not_configured */
export function requireMesh({config}: MessageContext): MeshClient {
  const client = meshClientOf(config)
  if (client === undefined) throw new SvcError('mesh_not_configured', {})
  return client
}
