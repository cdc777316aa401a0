import type {Diagnostic, Program} from '../../lang/index.js'

/** A problem with a program, as published to callers. */
export interface CodeFinding {
  severity: 'error' | 'warning'
  code: string
  message: string
  category: string
  /** From 1. */
  line: number
}

/** The result of checking a program. */
export interface Judgement {
  isValid: boolean
  findings: CodeFinding[]
  /** All errors, formatted for the model. */
  rendered: string
  /** Equal for two programs with the same errors, regardless of their positions. */
  signature: string
  /** Its only errors are constructs that the language would skip with a warning. */
  isOnlyStrict: boolean
  /** It is formatted as by the formatter. */
  isCanonical: boolean
}

/** Maximum number of errors shown to a model: the first ones often cause the others. */
const maxShown = 10

/** A skipped construct is lost, so it counts as an error in a new program. */
const isFault = ({severity, code}: Diagnostic) => severity === 'error' || code.startsWith('parse.unsupported_')

const nothing: CodeFinding = {
  severity: 'error',
  code: 'codegen.nothing_declared',
  message: 'The program declares nothing.',
  category: 'codegen',
  line: 1,
}

/** Checks a program written by a model. */
export async function judge(program: Program): Promise<Judgement> {
  const {asJson, formatSource, Lines, renderDiagnostics} = await import('../../lang/index.js')
  const {source, diagnostics, tables, indexes, records, sums, functions} = program
  const faults = diagnostics.filter(isFault)
  const lines = new Lines(source)
  const declares = [tables, indexes, records, sums, functions].some((found) => found.length > 0)
  const findings = faults.map((fault) => {
    const {error_code: code, severity, category, message, span} = asJson(fault, 'program.svc', lines)
    return {severity, code, message, category, line: span.start_line}
  })
  if (faults.length === 0 && !declares) findings.push(nothing as (typeof findings)[number])
  return {
    isValid: findings.length === 0,
    findings,
    rendered:
      faults.length === 0 ? nothing.message : renderDiagnostics(faults.slice(0, maxShown), 'program.svc', source),
    signature: findings
      .map(({code, message}) => `${code}: ${message}`)
      .sort()
      .join('\n'),
    isOnlyStrict: faults.length > 0 && faults.every(({severity}) => severity === 'warning'),
    isCanonical: formatSource(source) === source,
  }
}
