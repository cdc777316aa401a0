import {Exit, rows} from '../row.js'

/** Errors of operations, whichever face they are called through. */
export const operationErrors = rows({
  params_invalid: {
    exit: Exit.usage,
    http: 400,
    say: (p: {operation: string; violations: readonly string[]}) =>
      `${p.operation} cannot be called like this: ${p.violations.join('; ')}.`,
    hint: 'Nothing was done; put the parameters right and call again.',
  },
})
