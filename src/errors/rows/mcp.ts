import {conflict, notFound, rows, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

export const mcpErrors = rows(() => ({
  unknown_tool: notFound({
    message: (p: {name: string; suggestion?: string | undefined}) =>
      `There is no tool ${p.name}.${didYouMean(p.suggestion)}`,
    hint: 'List the tools with tools/list, or with svc mcp tools --tiers all.',
  }),
  prompt_invalid: usage({
    message: (p: {name: string; fault: string}) => `The prompt ${p.name} cannot be written: ${p.fault}.`,
    hint: 'List the prompts and their arguments with prompts/list.',
  }),
  resource_not_found: notFound({
    message: (p: {uri: string}) => `There is no resource ${p.uri}.`,
    hint: 'List the resources with resources/list, and their forms with resources/templates/list.',
  }),
  tool_name_taken: usage({
    http: 409,
    message: (p: {endpoint: string; name: string}) =>
      `The endpoint ${p.endpoint} cannot be a tool: ${p.name} is one already.`,
    hint: 'Rename the endpoint or the file of the program.',
  }),
  speech_unavailable: unavailable({
    message: () => 'This process recognises no speech.',
    hint: 'Ask a tool server that svc mcp serve started, or run svc transcribe.',
  }),
  remote_bind_refused: usage({
    http: 403,
    message: (p: {host: string; missing: readonly string[]}) =>
      `Other machines could use the tools of this workspace through ${p.host}, and that takes ${p.missing.join(' and ')}.`,
    hint: 'Listen on 127.0.0.1, or give --allow-remote and set SVC_MCP_HTTP_BEARER_TOKEN to 16 characters or more.',
  }),
  mcp_client_file_invalid: usage({
    message: (p: {path: string; reason: string}) => `Cannot merge into ${p.path}: ${p.reason}.`,
    hint: 'Correct the file, or add the output of svc mcp config to it yourself.',
  }),
  origin_denied: conflict({
    http: 403,
    message: (p: {origin: string}) => `Pages of ${p.origin} may not use the tools of this machine.`,
    hint: 'Use a page of this machine, or a client that is no browser.',
  }),
  mcp_session_missing: usage({
    message: () => 'The request names no session, and does not begin one.',
    hint: 'Send initialize first, then the Mcp-Session-Id of its answer with every request.',
  }),
  mcp_session_not_found: notFound({
    message: () => 'There is no such session, or it was idle for too long.',
    hint: 'Begin a new one with initialize.',
  }),
  mcp_sessions_full: unavailable({
    message: (p: {limit: number}) => `${p.limit} sessions are open and in use, and no more are allowed.`,
    hint: 'End a session with DELETE, or raise SVC_MCP_HTTP_MAX_SESSIONS.',
  }),
}))
