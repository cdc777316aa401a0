import type {CompletionEvidence} from './evidence.js'
import {error} from './findings.js'
import type {Gate} from './gate.js'

/** Values of `checks_passed` that claim an approval. */
const approvalClaims = ['human_review_approved', 'peer_review_approved', 'approval_reviewed']

/** Requires the approval that the tier of the task demands. */
export const approval: Gate = {
  name: 'approval',
  family: 'debug',
  mode: ({config, approval_tier: tier}) =>
    config.attentionEnabled && tier !== undefined && tier !== 'auto_approve' ? 'enforce' : 'off',
  evaluate: (evidence) => (evidence.approval_tier === 'confirm' ? confirmation(evidence) : review(evidence)),
}

const confirmation = ({
  attestation: {checks_passed: checks = [], declared_non_placeholder: declared},
}: CompletionEvidence) =>
  checks.length > 0 || declared === true
    ? []
    : [
        error(
          'approval/not-confirmed',
          'Confirm the work: list the checks that passed, or set declared_non_placeholder.',
        ),
      ]

/** The agent's claim counts only with an approval by someone else, and the approval only with the claim. */
function review({attestation: {checks_passed: checks = []}, approvals, worker}: CompletionEvidence) {
  const isClaimed = checks.some((check) => approvalClaims.includes(check))
  const isApproved = approvals.some(({by}) => by.trim() !== '' && by !== worker)
  return [
    isApproved
      ? []
      : error(
          'approval/not-reviewed',
          'Only the worker has handled this task. Somebody else must approve it with `svc orch approve TASK`.',
        ),
    isClaimed
      ? []
      : error(
          'approval/not-attested',
          `The attestation must list one of ${approvalClaims.join(', ')} in checks_passed.`,
        ),
  ].flat()
}
