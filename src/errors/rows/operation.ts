import {conflict, rows, usage} from '../row.js'

/** Errors of operations, whichever face they are called through. */
export const operationErrors = rows(() => ({
  params_invalid: usage({
    message: (p: {operation: string; violations: readonly string[]}) =>
      `${p.operation} cannot be called like this: ${p.violations.join('; ')}.`,
    hint: 'Nothing was done; put the parameters right and call again.',
  }),
  path_denied: conflict({
    http: 403,
    message: (p: {path: string; reason: string}) => `The path ${JSON.stringify(p.path)} is refused: ${p.reason}.`,
    hint: 'Name a file of the workspace; recordings lie in the folder of SVC_SPEECH_WORKSPACE where that is set.',
  }),
}))
