import {conflict, rows, usage} from '../row.js'

/** Errors of operations, on every binding. */
export const operationErrors = rows(() => ({
  params_invalid: usage({
    message: (p: {operation: string; violations: readonly string[]}) =>
      `Invalid parameters for ${p.operation}: ${p.violations.join('; ')}.`,
    hint: 'Correct the parameters and call again. Nothing was changed.',
  }),
  path_denied: conflict({
    http: 403,
    message: (p: {path: string; reason: string}) => `The path ${JSON.stringify(p.path)} is not allowed: ${p.reason}.`,
    hint: 'Use a path in the workspace. For recordings, SVC_SPEECH_WORKSPACE can set another directory.',
  }),
}))
