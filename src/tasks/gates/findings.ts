import {excerpt} from '../../errors/index.js'
import type {Finding, Severity} from '../base/finding.js'

/** Maximum number of findings that a gate reports. */
export const maxFindings = 50

const of =
  (severity: Severity) =>
  (rule: string, message: string, path?: string): Finding => ({
    rule,
    severity,
    ...(path !== undefined && {path}),
    message,
  })

export const error = of('error')
export const warning = of('warning')
export const info = of('info')

export const fails = ({severity}: Finding): boolean => severity === 'error' || severity === 'critical'

/** Limits the findings of a gate; the last one counts the omitted ones. Errors are omitted last. */
export function limitFindings(findings: readonly Finding[]): readonly Finding[] {
  if (findings.length <= maxFindings) return findings
  const sorted = [...findings.filter(fails), ...findings.filter((finding) => !fails(finding))]
  const omitted = sorted.slice(maxFindings - 1)
  const message = `${omitted.length} more findings are not shown. Fix the ones above first.`
  return [
    ...sorted.slice(0, maxFindings - 1),
    omitted.some(fails) ? error('gate/more-findings', message) : info('gate/more-findings', message),
  ]
}

/** A name as it appears in a message: quoted and of limited length. */
export const quote = (text: string): string => JSON.stringify(excerpt(text, 120))
