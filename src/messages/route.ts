import {SvcError} from '../errors/index.js'
import {type Acknowledged, type AckRequest, ackMessage, readMessageId} from './ack.js'
import type {Consumer} from './consumer.js'
import type {MessageContext} from './context.js'
import {type Inbox, type InboxRequest, prepareReading, readHere, readInbox, toInbox} from './inbox.js'
import {ackOverMesh} from './mesh/ack-mesh.js'
import type {Calling} from './mesh/calling.js'
import {hasMesh, requireMesh} from './mesh/plane.js'
import {readFromMesh} from './mesh/read-mesh.js'
import {sendOverMesh} from './mesh/send-mesh.js'
import {inboxSources, parseWord, routes} from './planes.js'
import {type SendRequest, type Sent, sendMessage} from './send.js'

/** Sends a message on the requested route: locally at once, to other machines asynchronously. */
export function sendRouted(context: MessageContext, request: SendRequest, calling: Calling): Sent | Promise<Sent> {
  const route = parseWord(request.route ?? 'local', routes, 'route')
  return route === 'mesh' ? sendOverMesh(context, request, calling) : sendMessage(context, {...request, route})
}

/** Acknowledges a message on its route, which an id such as `mesh:1042` contains. */
export function ackRouted(
  context: MessageContext,
  request: AckRequest,
  owner: string,
  calling: Calling,
): Acknowledged | Promise<Acknowledged> {
  const located = readMessageId(request)
  return located.route === 'mesh'
    ? ackOverMesh(context, request, located.id, calling)
    : ackMessage(context, request, located, owner)
}

/** The reader of an inbox. */
export interface Reader extends Pick<Calling, 'signal'> {
  readonly consumer: Consumer
  /** Receives a notice if the mesh is not available. */
  readonly notice: (text: string) => void
}

/**
 * Reads an inbox from the requested source. `merged` includes the mesh if one is configured; if the mesh is not
 * available, only the other inboxes are returned.
 */
export function readRouted(context: MessageContext, request: InboxRequest, reader: Reader): Inbox | Promise<Inbox> {
  const source = parseWord(request.source ?? 'merged', inboxSources, 'source')
  if (source === 'mesh') return readMeshInbox(context, request, reader)
  const isMerged = source === 'merged' && hasMesh(context) && request.dead !== true
  return isMerged ? readMerged(context, request, reader) : readInbox(context, {...request, source}, reader.consumer)
}

/** @throws mesh_not_configured, and the errors of `readInbox`; MeshHttpError */
async function readMeshInbox(
  context: MessageContext,
  request: InboxRequest,
  {consumer, signal}: Reader,
): Promise<Inbox> {
  requireMesh(context)
  const reading = prepareReading(context, request, consumer, {source: 'mesh', routes: ['mesh']})
  const messages = await readFromMesh(context, reading.agentId, reading, {signal})
  const found = [{unread: messages.length, messages}]
  return {...toInbox(context, reading, found), remote_attempted: true, remote_ok: true}
}

/** Maximum time that other inboxes wait for the mesh, ms. */
const mergedTimeoutMs = 2000

async function readMerged(
  context: MessageContext,
  request: InboxRequest,
  {consumer, notice, signal}: Reader,
): Promise<Inbox> {
  const reading = prepareReading(context, request, consumer, {source: 'merged', routes: ['local', 'db', 'mesh']})
  const timeoutMs = Math.min(context.config.meshHttpTimeoutMs, mergedTimeoutMs)
  const asking = {retry: false, timeoutMs, signal}
  let remoteOk = true
  const messages = await readFromMesh(context, reading.agentId, reading, asking).catch((error) => {
    signal?.throwIfAborted()
    remoteOk = false
    notice(`warning: Messages of other machines are not shown: ${SvcError.from(error).message}`)
    return []
  })
  // Claims start now, not before the request to the mesh.
  const found = [...readHere(context, reading), {unread: messages.length, messages}]
  return {...toInbox(context, reading, found), remote_attempted: true, remote_ok: remoteOk}
}
