import type {ExplainV1} from '../contracts/index.js'
import {formatTable, type TableView, wrapped} from './table.js'

type Explanation = ExplainV1['codes'][number]

/** Number of codes that a line of a group shows. */
const examples = 3

/** Groups of codes as a table, and the command that lists the codes of one. */
export function formatGroups(groups: readonly (readonly [group: string, codes: readonly string[]])[], view: TableView) {
  const rows = groups.map(([group, codes]) => [group, String(codes.length), codes.slice(0, examples).join(', ')])
  const table = formatTable(['GROUP', 'CODES', wrapped('SUCH AS')], rows, view)
  return view.output === 'name' ? table : `${table}\nRun \`svc explain GROUP\` to list the codes of a group.\n`
}

/** Codes as a table. */
export const formatCodes = (codes: readonly Explanation[], view: TableView): string =>
  formatTable(
    ['CODE', wrapped('CAUSE')],
    codes.map(({code, cause}) => [code, cause]),
    view,
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
