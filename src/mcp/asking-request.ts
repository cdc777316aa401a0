import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequest,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type {Caller} from './call-hooks.js'
import {answering} from './protocol-error.js'
import type {Era, ServerState} from './server-state.js'
import {type ClientResults, earlyResults, ResumableCall} from './suspended-calls.js'
import type {ClientRequests} from './tool.js'

/** Handles requests during which the client can be asked. */
export interface AskingRequests {
  /** Answers a request, or continues the one whose question it answers. @param name identifies what is requested */
  perform(name: string, context: ServerContext, answer: (call: ResumableCall) => Promise<Result>): Promise<Result>
  callerOf(call: ResumableCall): Caller
  capabilitiesOf(context: ServerContext): ClientCapabilities | undefined
}

export function askingRequests(
  server: Server,
  {state, era, askTimeoutMs}: {state: ServerState; era: Era; askTimeoutMs: number},
): AskingRequests {
  const capabilitiesOf = ({mcpReq: {envelope}}: ServerContext) =>
    era === 'modern' ? declaredIn(envelope) : server.getClientCapabilities()

  const send = async (call: ResumableCall, requests: ClientRequests): Promise<ClientResults> => {
    const options = {timeout: askTimeoutMs, signal: AbortSignal.any([call.signal, state.gone.signal])}
    const sendTo = call.context.mcpReq.send as (request: InputRequest, options: object) => Promise<unknown>
    const results = Object.entries(requests).map(
      async ([key, request]) => [key, await sendTo(request, options)] as const,
    )
    return Object.fromEntries(await Promise.all(results))
  }

  const suspend = async (call: ResumableCall, requests: ClientRequests, acceptsEarly: boolean) => {
    const early = acceptsEarly ? await earlyResults(call.context, requests) : undefined
    if (early !== undefined) return early
    const signals = [call.signal, state.gone.signal, AbortSignal.timeout(askTimeoutMs)]
    return state.suspended.ask(call, requests, AbortSignal.any(signals))
  }

  return {
    capabilitiesOf,
    callerOf: (call) => ({
      context: () => call.context,
      capabilities: capabilitiesOf(call.context),
      signal: call.signal,
      request: (requests, acceptsEarly) =>
        era === 'modern' ? suspend(call, requests, acceptsEarly) : send(call, requests),
    }),
    async perform(name, context, answer) {
      const suspended = context.mcpReq.requestState<string>()
      if (suspended !== undefined) return (await state.suspended.resume(suspended, name, context)).reply()
      const call = new ResumableCall(name, context)
      call.settle(answering(state.running, () => answer(call)))
      return call.reply()
    },
  }
}

/** Since revision 2026-07-28 a client declares its capabilities in each request. */
const declaredIn = (envelope: ServerContext['mcpReq']['envelope']) =>
  envelope?.[CLIENT_CAPABILITIES_META_KEY as keyof typeof envelope] as ClientCapabilities | undefined
