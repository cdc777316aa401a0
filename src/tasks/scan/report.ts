import type {Finding} from '../base/finding.js'

export interface ScanReport {
  passed: boolean
  /** Findings of severity `error` or `critical`. */
  error_count: number
  warning_count: number
  findings: readonly Finding[]
}

/** The report of a scan, which passes unless a finding has severity `error` or `critical`. */
export function scanReport(findings: readonly Finding[]): ScanReport {
  const count = (...severities: string[]) => findings.filter(({severity}) => severities.includes(severity)).length
  const errorCount = count('error', 'critical')
  return {passed: errorCount === 0, error_count: errorCount, warning_count: count('warning'), findings}
}
