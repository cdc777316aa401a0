/**
 * What a workspace does with spoken text: a language model polishes it, and routes choose an operation, chat, or submit a
 * task. `speech` only recognises.
 */
export {listenPayload} from './listen-payload.js'
export type {ModelMessage, ResolveModel} from './polish/ask-model.js'
export {type Polished, polish} from './polish/polish.js'
export type {Unpolished} from './polish/request.js'
export type {Route, RouteMode} from './routing/decide.js'
export {noEditor, readEditorContext} from './routing/editor-context.js'
export {type RouteResult, Router} from './routing/router.js'
export {
  type PairsFile,
  polishTranscript,
  routeTranscript,
  type TranscriptUse,
  transcriptUse,
} from './routing/use-transcript.js'
export {spokenPorts} from './spoken-operations.js'
export {Voice} from './voice.js'
