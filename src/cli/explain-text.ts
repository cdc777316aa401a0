import type {ExplainV1} from '../contracts/index.js'
import {formatTable} from './table.js'

type Explanation = ExplainV1['codes'][number]

/** All codes, a line each. @param width of the terminal, where there is one */
export const formatCodes = (codes: readonly Explanation[], width?: number): string =>
  formatTable(
    ['CODE', 'KIND', 'CAUSE'],
    codes.map(({code, kind, cause}) => [code, kind, cause]),
    width,
  )

/** One code on several lines: its cause, its message for an example, and the fix. */
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
  return `${code} (${severity} of the data language)\n\n${about}\nExample:\n\n${indent(example)}\n${indent(message)}\nFixed:\n\n${indent(fixed)}`
}

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '    ')
