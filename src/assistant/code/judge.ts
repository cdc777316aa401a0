import type {Diagnostic, Program} from '../../lang/index.js'

/** What is wrong with a program, as callers read it. */
export interface Finding {
  severity: 'error' | 'warning'
  code: string
  message: string
  category: string
  /** From 1. */
  line: number
}

/** What the data language says of a program. */
export interface Judgement {
  isValid: boolean
  findings: Finding[]
  /** Everything that is wrong, for the model. */
  rendered: string
  /** The same for two programs with the same faults, wherever they stand. */
  signature: string
  /** It is wrong for what the language skips with a warning, and for nothing else. */
  isOnlyStrict: boolean
  /** Whether it is spaced and indented as the formatter does it. */
  isCanonical: boolean
}

/** Faults that are told to a model: the first ones cause the others often enough. */
const mostShown = 10

/** What the language skips is lost: in a program that is written anew that is no warning. */
const isFault = ({severity, code}: Diagnostic) => severity === 'error' || code.startsWith('parse.unsupported_')

const nothing: Finding = {
  severity: 'error',
  code: 'codegen.nothing_declared',
  message: 'The program declares nothing.',
  category: 'codegen',
  line: 1,
}

/** What the data language says of a program that a model wrote. */
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
      faults.length === 0 ? nothing.message : renderDiagnostics(faults.slice(0, mostShown), 'program.svc', source),
    signature: findings
      .map(({code, message}) => `${code}: ${message}`)
      .sort()
      .join('\n'),
    isOnlyStrict: faults.length > 0 && faults.every(({severity}) => severity === 'warning'),
    isCanonical: formatSource(source) === source,
  }
}
