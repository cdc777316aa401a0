import {diagnosticExplanations} from '../diagnostics/explanations.js'
import {type DiagnosticCode, renderDiagnostics, severities} from '../diagnostics/index.js'
import {checkProgram} from './program.js'

/** A diagnostic code with its cause, an example, the message for that example, and the corrected program. */
export interface ExplainedDiagnostic {
  code: DiagnosticCode
  severity: 'error' | 'warning'
  cause: string
  fix: string
  example: string
  /** The diagnostic as `svc db check` prints it. */
  message: string
  fixed: string
}

/** Every diagnostic code, in catalogue order. */
export const explainDiagnostics = (): ExplainedDiagnostic[] =>
  Object.entries(diagnosticExplanations).map(([name, explanation]) => {
    const code = name as DiagnosticCode
    const {diagnostics} = checkProgram(explanation.example)
    const message = renderDiagnostics(diagnostics, 'main.svc', explanation.example)
    return {code, severity: severities[code], ...explanation, message}
  })
