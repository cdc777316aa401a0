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
 * Acknowledges a mesh message of an agent's inbox. The mesh does not distinguish repeated acknowledgements.
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
      reason: 'A mesh message that is not acknowledged is redelivered automatically; it cannot be marked as failed.',
    })
  // If this machine is a node, only its own claim is acknowledged.
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
