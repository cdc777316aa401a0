import {conflict, rows, usage} from '../row.js'

/** Errors of operations, on the command line, over JSON-RPC and over MCP. */
export const operationErrors = rows(() => ({
  params_invalid: usage({
    message: (p: {operation: string; violations: readonly string[]}) =>
      `Invalid parameters for ${p.operation}: ${p.violations.join('; ')}.`,
    hint: 'Correct the parameters and call the operation again; nothing was changed.',
  }),
  path_denied: conflict({
    http: 403,
    message: (p: {path: string; reason: string}) =>
      `Access to the path ${JSON.stringify(p.path)} is denied: ${p.reason}.`,
    hint: 'Use a path inside the workspace; for recordings, use the directory of SVC_SPEECH_WORKSPACE if it is set.',
  }),
}))
