import type {SettingSources} from '../../config/index.js'
import {SvcError} from '../../errors/index.js'
import {nodeId} from '../../mesh/index.js'
import {matchId, requireAgent} from '../../tasks/index.js'
import type {MessageContext} from '../context.js'

import {fnv1a64, messageKey, repetitionMs} from '../idempotency-key.js'
import {displayMeshMessage, meshPriority} from '../mesh-message.js'
import type {Draft} from '../message.js'
import {planeOf} from '../planes.js'
import {type SendRequest, type Sent, toDraft} from '../send.js'
import type {Calling} from './calling.js'
import {requireMesh} from './plane.js'

/**
 * Sends a message to an agent of any machine through the control plane. The sender is an agent of this workspace; the
 * receiver need not be known here.
 * @throws agent_not_found, agent_session_mismatch, mesh_not_configured, message_invalid, usage; MeshHttpError
 */
export async function sendOverMesh(
  context: MessageContext,
  request: SendRequest,
  {sources, signal}: Calling,
): Promise<Sent> {
  const mesh = requireMesh(context)
  const {draft, binding} = toDraft(context, request)
  if (draft.threadId !== undefined || draft.tenantId !== undefined)
    throw new SvcError('message_invalid', {fault: 'the mesh does not support thread ids and tenant ids'})
  const receiver = remoteAgent(context, request.receiver)
  const {sender, type, payload, priority, correlationId = null} = draft
  const key = request.key ?? meshKey(draft, receiver, await originOf(context, sources), context.now())
  const {message_id: id, duplicate = false} = await mesh.deliver(
    {
      senderAgentId: String(sender),
      receiverAgentId: String(receiver),
      messageType: type,
      payload,
      priority: meshPriority[priority],
      idempotencyKey: key,
    },
    {signal},
  )
  return {
    message_id: id,
    display_id: displayMeshMessage(id),
    db_message_uuid: null,
    sender,
    receiver,
    msg_type: type,
    route: 'mesh',
    delivery_plane: planeOf.mesh,
    route_ok: true,
    duplicate,
    idempotency_key: key,
    correlation_id: correlationId,
    tenant_id: null,
    relay_attempted: true,
    relay_ok: true,
    dropped_messages: 0,
    ...binding,
  }
}

/** Agents of other machines are identified by number; names refer to agents of this machine. @throws agent_not_found */
const remoteAgent = (context: MessageContext, nameOrId: string | number): number =>
  matchId(String(nameOrId), 'A') ?? requireAgent(context, nameOrId).id

/** Maximum length of a key in characters. */
const maxKeyLength = 512

/**
 * The mesh key of a message whose sender has not chosen one. It includes the origin, because agents of different
 * workspaces have the same numbers. The mesh remembers keys for a day, but the same text may be sent again earlier, so
 * a key derived from the content also includes the minute.
 */
function meshKey(draft: Draft, receiver: number, origin: string, nowMs: number): string {
  const {correlationId} = draft
  if (correlationId === undefined)
    return `${messageKey(draft, receiver).text}-${origin}-${Math.floor(nowMs / repetitionMs)}`
  const key = `${origin}-${correlationId}`
  return key.length <= maxKeyLength ? key : `${origin}-${fnv1a64(correlationId)}`
}

/**
 * A name for this workspace on this machine. It combines the node name, since copies of a machine have the same
 * folders, with the repository id. A machine without a stored node name uses the repository id alone.
 */
async function originOf({repositoryId}: MessageContext, sources: SettingSources): Promise<string> {
  const node = await nodeId(sources).catch(() => '')
  return fnv1a64(`${node}\0${repositoryId}`)
}
