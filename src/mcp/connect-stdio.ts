import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server'
import {serveStdio} from '@modelcontextprotocol/server/stdio'
import {refuseListening} from './handle-tasks.js'
import type {Watcher} from './resources/feed.js'
import {Listening} from './resources/listening.js'
import {createToolServer, reportFault, watcherOf} from './server.js'
import type {ServerParts} from './server-parts.js'
import {createServerState, type ServerState} from './server-state.js'
import type {StdioTransport} from './stdio-transport.js'

/** Serves one client over a transport. Its first messages decide the protocol revision. */
export function connectStdio(
  parts: ServerParts,
  transport: StdioTransport,
): {state: ServerState; close(): Promise<void>} {
  const state = createServerState()
  let watcher: Watcher | undefined
  const {close} = serveStdio(
    ({era}) => {
      const server = createToolServer(parts, state, era)
      watcher = watcherOf(server)
      return server
    },
    {transport, onerror: reportFault},
  )
  // The library selects the notifications that a client listens to, but does not report which resources they are about.
  const listening = new Listening(parts.feed, {
    updated: (uri) => watcher?.updated(uri),
    listed: () => watcher?.listed(),
  })
  const {onmessage} = transport
  transport.onmessage = (message) => {
    const refusal = isListening(message) ? refuseListening(message) : undefined
    if (refusal !== undefined) void transport.send(refusal)
    else void observe(message, listening).finally(() => onmessage?.(message))
  }
  return {
    state,
    async close() {
      listening.end()
      await close()
    },
  }
}

const isListening = (message: JSONRPCMessage): message is JSONRPCRequest =>
  isJSONRPCRequest(message) && message.method === 'subscriptions/listen'

async function observe(message: JSONRPCMessage, listening: Listening): Promise<void> {
  if (isListening(message)) await listening.begin(message.id, message.params)
  else if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled')
    listening.stop(message.params?.requestId)
}
