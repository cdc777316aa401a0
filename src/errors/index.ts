/**
 * One error type for everything a user can meet. A row of the catalogue defines code, message, hint, exit status and
 * HTTP status; a renderer turns an error into the body of one wire format.
 */
export {type ErrorCode, type ErrorParams, type ErrorRow, Exit, errorGroups} from './catalogue.js'
export {command, commandLine} from './command.js'
export {counted} from './counted.js'
export {type ErrorRecord, isErrorOf, SvcError} from './error.js'
export {excerpt} from './excerpt.js'
export {literalPattern} from './literal-pattern.js'

export {
  asAnthropicError,
  asAudioError,
  asCliError,
  asDatabaseError,
  asOllamaError,
  asOpenAiError,
  asProblem,
  asText,
  type ErrorRenderer,
} from './render.js'
export {oneLine} from './row.js'
export {nearest} from './suggestion.js'

/** Every error code with its cause, an example and the fix. Loads the texts on demand. */
export const explainErrors = async () => (await import('./explain.js')).explainErrors()
