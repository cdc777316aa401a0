import type {Server} from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  ListToolsRequestSchema,
  type LoggingLevel,
  SetLevelRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import {type Caller, callHooks, type Extra} from './call-hooks.js'
import {callTool} from './call-tool.js'
import {listTool} from './list-tool.js'
import type {RunningRequests} from './running-requests.js'
import type {ServerParts} from './server-parts.js'

/**
 * Handles `tools/*` and `logging/setLevel` requests.
 * @param gone aborts when the client can no longer answer questions
 */
export function handleTools(
  server: Server,
  {registry, tiers, host, askTimeoutMs}: ServerParts,
  {running, gone}: {running: RunningRequests; gone: AbortSignal},
): void {
  let level: LoggingLevel = 'info'
  const caller: Caller = {
    capabilities: () => server.getClientCapabilities(),
    level: () => level,
    askTimeoutMs,
    gone,
    elicit: (extra, params, options) =>
      extra.sendRequest({method: 'elicitation/create', params}, ElicitResultSchema, options),
  }
  const call = async (name: string, args: Readonly<Record<string, unknown>>, extra: Extra) => {
    const {flushed, ...hooks} = callHooks(extra, caller)
    const {envelope} = await callTool(registry, name, args, host, hooks)
    await flushed()
    return {
      content: [{type: 'text' as const, text: JSON.stringify(envelope)}],
      structuredContent: {...envelope},
      isError: !envelope.success,
    }
  }
  server.setRequestHandler(SetLevelRequestSchema, ({params}) => {
    level = params.level
    return {}
  })
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: registry.listed(tiers).map(listTool) as never,
  }))
  server.setRequestHandler(CallToolRequestSchema, ({params}, extra) =>
    running.add(call(params.name, params.arguments ?? {}, extra)),
  )
}
