import {SvcError} from '../../errors/index.js'
import {knownNodeId} from '../../mesh/index.js'
import type {Acknowledged, AckRequest} from '../ack.js'
import type {MessageContext} from '../context.js'
import {bindIdentity} from '../identity.js'
import {displayMeshMessage} from '../mesh-message.js'
import {planeOf} from '../planes.js'
import {requireReceiver} from '../receiver.js'
import type {Calling} from './calling.js'
import {requireMesh} from './plane.js'

/**
 * Acknowledges a message of an agent's inbox on the mesh: once or again, which the mesh does not tell apart.
 * @throws agent_not_found, agent_session_mismatch, file_unreadable, mesh_not_configured, message_not_found, usage;
 * MeshHttpError
 */
export async function ackOverMesh(
  context: MessageContext,
  {agent: nameOrId, sessionId, error}: AckRequest,
  message: number,
  {sources, signal}: Calling,
): Promise<Acknowledged> {
  const mesh = requireMesh(context)
  const agent = requireReceiver(context, nameOrId)
  bindIdentity(agent, sessionId)
  if (error !== undefined)
    throw new SvcError('usage', {
      reason: 'A message of the mesh is claimed by nodes: one that is not acknowledged is delivered again by itself.',
    })
  // Where this machine is a node, it does not end the work of another one.
  const claimer = await knownNodeId(sources)
  const isKnown = await mesh.ack({receiver: String(agent.id), message, claimer}, {signal})
  if (!isKnown) throw new SvcError('message_not_found', {message: displayMeshMessage(message)})
  return {
    acknowledged: true,
    message_id: message,
    db_message_uuid: null,
    route: 'mesh',
    delivery_plane: planeOf.mesh,
    local_acknowledged: false,
    remote_attempted: true,
    remote_acknowledged: true,
    dead_lettered: false,
  }
}
