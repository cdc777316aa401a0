import type {A2AAckV1} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import type {MessageContext} from './context.js'
import {bindIdentity} from './identity.js'
import {matchMeshMessage} from './mesh-message.js'
import {displayMessage, type MessageReference} from './message.js'
import {parseWord, planeOf, routes} from './planes.js'
import {requireReceiver} from './receiver.js'
import {acknowledgeMessage, failMessage} from './settle.js'

export interface AckRequest {
  /** Name or id; only the id for a retired agent. */
  agent: string | number
  /** The uuid of a durable message, `M-000012` for one of this process, `mesh:1042` for one of the mesh, or an id. */
  message: string | number
  /** Route of a plain id. Default: `local`. Other forms already contain their route. */
  route?: string
  /** Why a claimed message could not be handled: it is redelivered instead. */
  error?: string
  /** Acknowledges a durable message although another consumer holds it. */
  force?: boolean
  /** Session of the agent; required if it has one. */
  sessionId?: string
}

/** The outcome of acknowledging a message. */
export type Acknowledged = A2AAckV1

/** The route of a message and its id there. */
type Located = LocatedHere | {route: 'mesh'; id: number}
type LocatedHere = {route: 'local'; id: number} | {route: 'db'; reference: MessageReference}

/**
 * Acknowledges a message of an agent's inbox on this machine, or reports why it could not be handled.
 * @param located the result of `readMessageId`
 * @param owner owner of this process's claims
 * @throws agent_not_found, agent_session_mismatch, message_not_found, message_claim_lost, usage
 */
export function ackMessage(
  context: MessageContext,
  request: AckRequest,
  located: LocatedHere,
  owner: string,
): Acknowledged {
  const agent = requireReceiver(context, request.agent)
  bindIdentity(agent, request.sessionId)
  return located.route === 'local'
    ? ackLocal(context, agent.id, located.id, request)
    : ackDurable(context, agent.id, located.reference, {...request, owner})
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const idPattern = /^(M-)?0*([1-9]\d{0,14})$/i

/**
 * Resolves a message id. Plain ids of different routes are unrelated, so such an id belongs to the specified route.
 * @throws usage
 */
export function readMessageId({message, route: word = 'local'}: Pick<AckRequest, 'message' | 'route'>): Located {
  const text = String(message).trim()
  if (uuidPattern.test(text)) return {route: 'db', reference: {uuid: text}}
  const ofMesh = matchMeshMessage(text)
  if (ofMesh !== undefined) return {route: 'mesh', id: ofMesh}
  const route = parseWord(word, routes, 'route')
  const [, prefix, digits] = idPattern.exec(text) ?? []
  if (digits === undefined)
    throw new SvcError('usage', {
      reason: `${JSON.stringify(text)} is not a message id. Expected a uuid, or an id such as 12, M-000012 or mesh:12.`,
    })
  const id = Number(digits)
  if (prefix !== undefined) return {route: 'local', id}
  return route === 'db' ? {route, reference: {id}} : {route, id}
}

const notRemote = {remote_attempted: false, remote_acknowledged: false}

function ackLocal({bus}: MessageContext, agent: number, id: number, {error}: AckRequest): Acknowledged {
  const message = bus.find(agent, id)
  if (message === undefined) throw new SvcError('message_not_found', {message: displayMessage(id)})
  if (error !== undefined)
    throw new SvcError('usage', {
      reason: 'Messages of the route local are not claimed: they stay unread until they are acknowledged.',
    })
  const acknowledged = bus.acknowledge(agent, id)
  return {
    acknowledged,
    message_id: id,
    db_message_uuid: null,
    route: 'local',
    delivery_plane: message.delivery_plane,
    local_acknowledged: acknowledged,
    ...notRemote,
    dead_lettered: false,
  }
}

function ackDurable(
  context: MessageContext,
  agent: number,
  reference: MessageReference,
  {error, force, owner}: AckRequest & {owner: string},
): Acknowledged {
  const {row, acknowledged} =
    error === undefined
      ? acknowledgeMessage(context, agent, reference, {owner, force})
      : {row: failMessage(context, agent, reference, {owner, error}), acknowledged: false}
  return {
    acknowledged,
    message_id: row.id,
    db_message_uuid: row.message_uuid,
    route: 'db',
    delivery_plane: planeOf.db,
    local_acknowledged: acknowledged,
    ...notRemote,
    dead_lettered: row.dead_lettered_at_ms !== null,
  }
}
