import {createMcpHandler, InMemoryServerEventBus, isJSONRPCRequest} from '@modelcontextprotocol/server'
import {refuseListening} from '../handle-tasks.js'
import {Listening} from '../resources/listening.js'
import {createToolServer, reportFault} from '../server.js'
import type {ServerParts} from '../server-parts.js'
import {createServerState, drain} from '../server-state.js'

/** Answers requests of revision 2026-07-28, which belong to no session. */
export interface StatelessRequests {
  /** @param closed resolves when the response has been sent or the client has disconnected */
  answer(request: Request, body: unknown, closed: Promise<unknown>): Promise<Response>
  /** Waits up to `drainMs` for running calls to finish. */
  close(drainMs: number): Promise<void>
}

/** @param maxStreams maximum number of clients that listen to notifications at the same time */
export function createStateless(parts: ServerParts, maxStreams: number): StatelessRequests {
  const state = createServerState()
  const bus = new InMemoryServerEventBus(reportFault)
  const listening = new Listening(parts.feed, {
    updated: (uri) => bus.publish({kind: 'resource_updated', uri}),
    listed: () => bus.publish({kind: 'resources_list_changed'}),
  })
  const handler = createMcpHandler(() => createToolServer(parts, state, 'modern'), {
    legacy: 'reject',
    bus,
    maxSubscriptions: maxStreams,
    onerror: reportFault,
  })
  return {
    async answer(request, body, closed) {
      if (isJSONRPCRequest(body) && body.method === 'subscriptions/listen') {
        const refusal = refuseListening(body)
        if (refusal !== undefined) return Response.json(refusal, {status: 400})
        void closed.then(() => listening.stop(request))
        await listening.begin(request, body.params)
      }
      return handler.fetch(request, {parsedBody: body})
    },
    async close(drainMs) {
      await drain(state, drainMs)
      listening.end()
      await handler.close()
    },
  }
}
