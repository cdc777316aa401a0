import websocket from '@fastify/websocket'
import {SvcError} from '../errors/index.js'
import {type HttpApp, selectProtocol} from '../net/index.js'
import type {LiveConnection} from './live-connection.js'
import type {Attachment} from './sessions/session.js'

/** Maximum size of a message, bytes. */
const maxMessageBytes = 1 << 20

/** Time that clients have to answer when the server stops, ms. */
const closeTimeoutMs = 1000

/** Prepares an app for WebSocket routes. When the app closes, it closes the connections in the returned set. */
export async function acceptWebSockets(app: HttpApp): Promise<Set<LiveConnection>> {
  const connections = new Set<LiveConnection>()
  await app.register(websocket, {
    options: {maxPayload: maxMessageBytes, handleProtocols: selectProtocol},
    // The plugin would wait for clients to answer the close frame.
    preClose: (done: () => void) => done(),
  })
  app.addHook('preClose', (done) => {
    for (const connection of connections) connection.shutDown()
    setTimeout(() => {
      for (const connection of connections) connection.terminate()
    }, closeTimeoutMs).unref()
    done()
  })
  // Not called for a connection that was upgraded. The HTTP server no longer manages the socket of a refused upgrade.
  app.addHook('onSend', async ({headers}, reply) => {
    if (headers.upgrade !== undefined) reply.header('connection', 'close')
  })
  app.addHook('onResponse', async ({headers, raw}) => {
    if (headers.upgrade !== undefined) raw.socket.destroySoon()
  })
  return connections
}

/**
 * Reads how a client connects: the session to continue, the position of its first sample, and the number of final results
 * that it has.
 * @throws bad_request
 */
export function readAttachment(query: unknown): Attachment & {session: string | undefined} {
  const {session, from, finals} = query as Partial<Record<string, string>>
  return {session: session || undefined, from: count('from', from), finals: count('finals', finals)}
}

/** @throws bad_request */
function count(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value
  throw new SvcError('bad_request', {reason: `${name} is ${JSON.stringify(text.slice(0, 40))}, which is not a count.`})
}
