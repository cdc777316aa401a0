import type {ExplainV1} from '../contracts/index.js'
import {formatTable} from './table.js'

type Explanation = ExplainV1['codes'][number]

/** All codes as a table. @param width terminal width in characters; undefined: unlimited */
export const formatCodes = (codes: readonly Explanation[], width?: number): string =>
  formatTable(
    ['CODE', 'KIND', 'CAUSE'],
    codes.map(({code, kind, cause}) => [code, kind, cause]),
    width,
  )

/** One code: cause, fix, message and, for a diagnostic, an example with and without the error. */
export function formatExplanation({
  code,
  severity,
  exit,
  http,
  cause,
  fix,
  message,
  example,
  fixed,
}: Explanation): string {
  const about = `Cause:   ${cause}\nFix:     ${fix}\n`
  if (example === null || fixed === null)
    return `${code} (exit status ${exit}, HTTP status ${http})\n\nMessage: ${message}\n${about}`
  return `${code} (${severity} in the data language)\n\n${about}\nExample:\n\n${indent(example)}\n${indent(message)}\nFixed:\n\n${indent(fixed)}`
}

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '    ')
