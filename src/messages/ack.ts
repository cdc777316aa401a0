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
  /** By its name or id; one that is retired by its id. */
  agent: string | number
  /** The uuid of a durable message, `M-000012` for one of this process, `mesh:1042` for one of the mesh, or an id. */
  message: string | number
  /** Whose id it is; `local` where it is left out. The others say it themselves. */
  route?: string
  /** Why a claimed message could not be handled: it is delivered again instead. */
  error?: string
  /** Of the agent; named where it has one. */
  sessionId?: string
}

/** The outcome of acknowledging a message. */
export type Acknowledged = A2AAckV1

/** On which route a message is, and what it is called there. */
type Located = LocatedHere | {route: 'mesh'; id: number}
type LocatedHere = {route: 'local'; id: number} | {route: 'db'; reference: MessageReference}

/**
 * Acknowledges a message of an agent's inbox on this machine, or says why it could not be handled.
 * @param located what `readMessageId` has made of its id
 * @param owner for whom this process claims
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
 * Ids of two routes say nothing of each other, so one is taken for that of the route that is named.
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
      reason: `${JSON.stringify(text)} is no message; one is named by its uuid, or by an id such as 12, M-000012 or mesh:12.`,
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
      reason: 'Nobody claims a message of the route local: it is unread as long as it is not acknowledged.',
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
  {error, owner}: AckRequest & {owner: string},
): Acknowledged {
  const {row, acknowledged} =
    error === undefined
      ? acknowledgeMessage(context, agent, reference)
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
