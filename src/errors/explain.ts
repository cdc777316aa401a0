import {type ErrorCode, type ErrorRow, type ExitStatus, errorCatalogue} from './catalogue.js'
import {errorExplanations} from './explanations.js'
import {httpStatusOf} from './row.js'

/** An error code with its cause, an example of its message, and the fix. */
export interface ExplainedError {
  code: ErrorCode
  exit: ExitStatus
  http: number
  cause: string
  message: string
  fix: string
}

/** Every error code, in the order of the catalogue. */
export function explainErrors(): ExplainedError[] {
  return Object.entries(errorCatalogue()).map(([code, row]) => {
    const {exit, message, hint} = row as ErrorRow<object>
    const [cause = '', example = {}] = [errorExplanations[code as ErrorCode]].flat() as [
      cause?: string,
      example?: object,
    ]
    const fix = typeof hint === 'function' ? hint(example) : hint
    return {code: code as ErrorCode, exit, http: httpStatusOf(row), cause, message: message(example), fix}
  })
}
