/** Diagnostics: codes with their severities, a collector, and text and JSON output. */
export {type DiagnosticCode, severities} from './codes.js'
export {
  type Diagnostic,
  type DiagnosticDetails,
  Diagnostics,
  type Fix,
  type Span,
  type TextDiagnostic,
} from './diagnostic.js'
export {Lines} from './lines.js'
export {didYouMean, near} from './near.js'
export {asJson, renderDiagnostics, spanOf} from './render.js'
