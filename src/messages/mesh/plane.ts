import {SvcError} from '../../errors/index.js'
import type {MeshClient} from '../../mesh/index.js'
import type {MessageContext} from '../context.js'
import {meshClientOf} from './mesh-client.js'

/** Whether there is a control plane that carries messages to other machines. */
export const hasMesh = ({config}: MessageContext): boolean => config.controlUrl !== undefined

/** Who carries messages to other machines. @throws mesh_not_configured */
export function requireMesh({config}: MessageContext): MeshClient {
  const client = meshClientOf(config)
  if (client === undefined) throw new SvcError('mesh_not_configured', {})
  return client
}
