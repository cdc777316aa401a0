import {counted} from '../counted.js'
import {conflict, notFound, rows, unavailable, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

export const mcpErrors = rows(() => ({
  unknown_tool: notFound({
    message: (p: {name: string; suggestion?: string | undefined}) =>
      `Unknown tool ${p.name}.${didYouMean(p.suggestion)}`,
    hint: 'Run `svc mcp tools --tiers all`, or send tools/list, to list the tools.',
  }),
  prompt_invalid: usage({
    message: (p: {name: string; fault: string}) => `Cannot use the prompt ${p.name}: ${p.fault}.`,
    hint: 'List the prompts and their arguments with prompts/list.',
  }),
  resource_not_found: notFound({
    message: (p: {uri: string}) => `Resource ${p.uri} does not exist.`,
    hint: 'List the resources with resources/list and resources/templates/list.',
  }),
  tool_name_taken: usage({
    http: 409,
    message: (p: {endpoint: string; name: string}) =>
      `The endpoint ${p.endpoint} cannot become a tool: the name ${p.name} is already used.`,
    hint: 'Rename the endpoint, or the file of the program.',
  }),
  speech_unavailable: unavailable({
    message: () => 'Speech recognition is not available in this process.',
    hint: 'Use a server started with `svc mcp serve`, or run `svc transcribe RECORDING`.',
  }),
  remote_bind_refused: usage({
    http: 403,
    message: (p: {host: string; missing: readonly string[]}) =>
      `Listening on ${p.host} exposes the tools to other machines and requires ${p.missing.join(' and ')}.`,
    hint: 'Listen on 127.0.0.1, or pass --allow-remote and set SVC_MCP_HTTP_BEARER_TOKEN to 16 characters or more.',
  }),
  mcp_client_file_invalid: usage({
    message: (p: {path: string; reason: string}) => `Cannot merge into ${p.path}: ${p.reason}.`,
    hint: 'Correct the file, or add the output of `svc mcp config` to it manually.',
  }),
  origin_denied: conflict({
    http: 403,
    message: (p: {origin: string}) => `Requests from ${p.origin} are not allowed.`,
    hint: 'Open the page from a loopback address, or use a client that is not a browser.',
  }),
  dashboard_read_only: conflict({
    http: 403,
    message: (p: {method: string}) => `${p.method} is disabled: this dashboard was started with --read-only.`,
    hint: 'Use a dashboard without --read-only.',
  }),
  mcp_task_not_found: notFound({
    message: (p: {id: string}) => `The task ${p.id} does not exist or has expired.`,
    hint: 'Send the id of a task that a tools/call created; finished calls expire.',
  }),
  mcp_task_failed: conflict({
    message: (p: {task: string; reason: string}) => `${p.task} failed: ${p.reason}.`,
    hint: 'Read the task with svc_get_task, and retry it with svc_retry_task.',
  }),
  mcp_task_cancelled: conflict({
    message: (p: {id: string}) => `The task ${p.id} was cancelled.`,
    hint: 'Call the tool again to start another task.',
  }),
  mcp_task_ended: conflict({
    message: (p: {id: string; status: string}) => `The task ${p.id} cannot be cancelled: it is ${p.status}.`,
    hint: 'Read its result with tasks/result.',
  }),
  mcp_tasks_full: unavailable({
    message: (p: {limit: number}) => `The limit of ${p.limit} tool calls in the background is reached.`,
    hint: 'Wait for running calls, or cancel one with tasks/cancel.',
  }),
  mcp_call_lost: unavailable({
    message: (p: {tool: string; attempts: number}) =>
      `The server ended ${counted(p.attempts, 'time')} while ${p.tool} was running.`,
    hint: 'Read the log of the server, then call the tool again.',
  }),
  role_denied: conflict({
    http: 403,
    message: (p: {method: string}) => `A client that may only read cannot send ${JSON.stringify(p.method)}.`,
    hint: 'Send the token of SVC_MCP_HTTP_BEARER_TOKEN.',
  }),
  calls_exhausted: unavailable({
    message: (p: {limit: number}) => `${p.limit} calls of this connection are still running.`,
    hint: 'Wait for an answer before the next call.',
  }),
  mcp_session_missing: usage({
    message: () => 'The request has no session id, and it is not an initialize request.',
    hint: 'Send initialize first, then its Mcp-Session-Id with every request, or use protocol revision 2026-07-28.',
  }),
  mcp_session_not_found: notFound({
    message: () => 'The session does not exist or has expired.',
    hint: 'Start a new session with initialize.',
  }),
  mcp_sessions_full: unavailable({
    message: (p: {limit: number}) =>
      `The limit of ${counted(p.limit, 'session')} is reached, and none of them is free.`,
    hint: 'Close a session with a DELETE request, or raise SVC_MCP_HTTP_MAX_SESSIONS.',
  }),
}))
