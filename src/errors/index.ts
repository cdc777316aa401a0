/**
 * One error type for everything a user can meet. A row of the catalogue gives the code, the sentence, the hint, the
 * exit status and the HTTP status; a renderer turns one error into the body of one wire.
 */
export {type ErrorCode, type ErrorRow, Exit} from './catalogue.js'
export {type ErrorRecord, isErrorOf, SvcError} from './error.js'

export {
  asAudioError,
  asCliError,
  asDatabaseError,
  asOllamaError,
  asOpenAiError,
  asProblem,
  asText,
  type ErrorRenderer,
} from './render.js'
export {nearest} from './suggestion.js'

/** Every error code with its cause, an example and the fix. The texts are loaded only here. */
export const explainErrors = async () => (await import('./explain.js')).explainErrors()
