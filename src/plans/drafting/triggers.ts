import type {ReplanTrigger} from '../vocabulary.js'

interface Row {
  trigger: Exclude<ReplanTrigger, `custom:${string}`>
  /** Matches the text of a step whose failure may require replanning. */
  step?: RegExp
  /** Matches the text of such a failure. */
  failure: RegExp
}

const rows: readonly Row[] = [
  {
    trigger: 'test_failure_new_regression',
    step: /\btest(?:s|ing)?\b/i,
    failure: /\btest(?:s|ing)?\b|\brepro|\bflaky\b/i,
  },
  {
    trigger: 'compiler_error_unresolved',
    step: /\b(?:build|compile)(?:s|d|ing)?\b/i,
    failure: /\bcompil|\bunresolved\b/i,
  },
  {trigger: 'scope_denied', failure: /\bscope|\bcontext\b/i},
  {trigger: 'lock_conflict_persistent', failure: /\block(?:s|ed)?\b/i},
  {trigger: 'missing_capability', failure: /\bcapabilit/i},
  {trigger: 'external_dependency_unreachable', failure: /\bdependenc/i},
]

/** Failures after which a step triggers replanning. */
export const triggersOf = (description: string): ReplanTrigger[] =>
  rows.filter(({step}) => step?.test(description)).map(({trigger}) => trigger)

/** The first of a step's triggers that matches the failure message. */
export function triggerMet(triggers: readonly ReplanTrigger[], failure: string): ReplanTrigger | undefined {
  return triggers.find((trigger) => {
    const custom = /^custom:(.+)$/s.exec(trigger)?.[1]
    if (custom !== undefined) return failure.toLowerCase().includes(custom.toLowerCase())
    return rows.find((row) => row.trigger === trigger)?.failure.test(failure) === true
  })
}

/** True if a failure should be reproduced before it is fixed. */
export const isTestFailure = (failure: string): boolean =>
  triggerMet(['test_failure_new_regression'], failure) !== undefined
