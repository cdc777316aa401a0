import {conflict, notFound, rows, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

export const mcpErrors = rows(() => ({
  unknown_tool: notFound({
    message: (p: {name: string; suggestion?: string | undefined}) =>
      `Unknown tool: ${p.name}.${didYouMean(p.suggestion)}`,
    hint: 'Run svc mcp tools --tiers all, or call tools/list, to list the tools.',
  }),
  prompt_invalid: usage({
    message: (p: {name: string; fault: string}) => `Cannot create the prompt ${p.name}: ${p.fault}.`,
    hint: 'Call prompts/list to list the prompts and their arguments.',
  }),
  resource_not_found: notFound({
    message: (p: {uri: string}) => `Resource not found: ${p.uri}.`,
    hint: 'Call resources/list or resources/templates/list to list the resources.',
  }),
  tool_name_taken: usage({
    http: 409,
    message: (p: {endpoint: string; name: string}) =>
      `The endpoint ${p.endpoint} cannot become a tool: the tool ${p.name} already exists.`,
    hint: "Rename the endpoint or the program's file.",
  }),
  speech_unavailable: unavailable({
    message: () => 'Speech recognition is not available in this process.',
    hint: 'Use svc mcp serve, or run svc transcribe.',
  }),
  remote_bind_refused: usage({
    http: 403,
    message: (p: {host: string; missing: readonly string[]}) =>
      `Serving the workspace's tools on ${p.host} requires ${p.missing.join(' and ')}.`,
    hint: 'Listen on 127.0.0.1, or pass --allow-remote and set SVC_MCP_HTTP_BEARER_TOKEN to at least 16 characters.',
  }),
  mcp_client_file_invalid: usage({
    message: (p: {path: string; reason: string}) => `Cannot merge into ${p.path}: ${p.reason}.`,
    hint: 'Fix the file, or add the output of svc mcp config to it yourself.',
  }),
  origin_denied: conflict({
    http: 403,
    message: (p: {origin: string}) => `Requests from web pages of ${p.origin} are not allowed.`,
    hint: 'Use a page served by this machine, or a client that is not a browser.',
  }),
  mcp_session_missing: usage({
    message: () => 'The request has no session id and is not an initialize request.',
    hint: 'Send initialize first, then pass its Mcp-Session-Id header with every request.',
  }),
  mcp_session_not_found: notFound({
    message: () => 'Session not found. It may have expired.',
    hint: 'Start a new session with initialize.',
  }),
  mcp_sessions_full: unavailable({
    message: (p: {limit: number}) => `The limit of ${p.limit} open sessions is reached.`,
    hint: 'End a session with DELETE, or increase SVC_MCP_HTTP_MAX_SESSIONS.',
  }),
}))
