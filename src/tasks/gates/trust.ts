import {hasObservedSuccess} from './checks.js'
import {error} from './findings.js'
import type {Gate} from './gate.js'

/** Requires a check from an agent whose completed tasks were often wrong. An agent without a history is not judged. */
export const trust: Gate = {
  name: 'trust',
  family: 'toestub',
  mode: ({completionTrust, config}) =>
    completionTrust !== undefined && completionTrust.outcomes >= config.trustProvisionalThreshold ? 'enforce' : 'off',
  evaluate({completionTrust, config, attestation, checks}) {
    const score = completionTrust?.score ?? 0
    if (score >= config.trustTaskCompletionFloor) return []
    if ((attestation.checks_passed ?? []).length > 0 || hasObservedSuccess(checks)) return []
    return [
      error(
        'trust/no-check',
        `The trust in this agent to complete tasks is ${score.toFixed(2)}, below the minimum of ` +
          `${config.trustTaskCompletionFloor}. Run a check and list it in checks_passed.`,
      ),
    ]
  },
}
