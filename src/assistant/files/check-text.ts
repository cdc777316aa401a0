import type {Finding} from '../../tasks/index.js'

/** What a check looks for: errors of programs, defects that the scan of written files finds, or both. */
export type CheckMode = 'all' | 'program' | 'scan'

/** Extension of programs of the data language. */
const programEnding = '.svc'

/**
 * Checks the text of a file: a program of the data language by its checker, and every text by the rules of the scan.
 * @param path relative to the workspace root, with `/`
 */
export async function checkText(path: string, text: string, mode: CheckMode): Promise<Finding[]> {
  const program = mode === 'scan' || !path.endsWith(programEnding) ? [] : await checkSource(path, text)
  if (mode === 'program') return program
  const {scanText} = await import('../../tasks/index.js')
  return [...program, ...scanText(path, text)]
}

async function checkSource(path: string, text: string): Promise<Finding[]> {
  const {asJson, checkProgram, Lines} = await import('../../lang/index.js')
  const lines = new Lines(text)
  return checkProgram(text).diagnostics.map((diagnostic) => {
    const {error_code: rule, severity, message, span} = asJson(diagnostic, path, lines)
    return {rule, severity, path, line: span.start_line, message}
  })
}

export const isFault = ({severity}: Finding): boolean => severity === 'error' || severity === 'critical'
