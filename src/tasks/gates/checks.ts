import {type CheckResult, type Grade, isAtLeast} from './evidence.js'

/** The latest result of a check with at least this grade. Results without a start time count as the oldest. */
export function latestResult(checks: readonly CheckResult[], name: string, min: Grade): CheckResult | undefined {
  const start = ({started_at_ms = Number.NEGATIVE_INFINITY}: CheckResult) => started_at_ms
  return checks
    .filter(({check, grade}) => check === name && isAtLeast(grade, min))
    .reduce<CheckResult | undefined>(
      (latest, result) => (latest === undefined || start(result) >= start(latest) ? result : latest),
      undefined,
    )
}

/** True if `svc` saw a check succeed, of any name. */
export const hasObservedSuccess = (checks: readonly CheckResult[]): boolean =>
  checks.some(({grade, passed}) => passed && isAtLeast(grade, 'observed'))
