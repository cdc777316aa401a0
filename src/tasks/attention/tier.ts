import type {TrustTier} from '../agents/reliability.js'
import {clamp} from '../base/clamp.js'
import type {ApprovalTier} from '../base/task.js'

export interface TierFactors {
  description: string
  /** Number of files that the task writes. */
  writes: number
  trustTier: TrustTier
  /** Trust in the agent, 0 to 1. */
  trust: number
  /** Share of the tasks of the agent that were completed, 0 to 1. */
  successRate: number
  /** Number of tasks that the agent has finished. */
  observations: number
}

export interface TierPolicy {
  /** Minimum trust for repeated work, 0 to 1. */
  trustAutoApproveMin: number
  tierGate: {
    entropyAutoApproveThreshold: number
    autoApproveMinObservations: number
    autoApproveMinTrust: number
    untrustedMaxWritesBeforeBlock: number
    trustedSingleFileConfirmLimit: number
  }
}

/** Effects outside the workspace. */
const external = /https?:\/\/|\bdeploy|\bpublish\b|\bsecrets?\b/i

/** The approval that a task needs. The first rule that matches wins. */
export function approvalTier(task: TierFactors, {trustAutoApproveMin, tierGate}: TierPolicy): ApprovalTier {
  const {description, writes, trustTier, trust, successRate, observations} = task
  const isTrusted = trustTier === 'trusted' || trustTier === 'system'
  if (external.test(description)) return 'blocked'
  if (trustTier === 'untrusted' && writes > tierGate.untrustedMaxWritesBeforeBlock) return 'blocked'
  const isPredictable =
    outcomeEntropy(successRate) < tierGate.entropyAutoApproveThreshold &&
    observations >= tierGate.autoApproveMinObservations
  if (isTrusted && isPredictable && trust >= Math.max(trustAutoApproveMin, tierGate.autoApproveMinTrust))
    return 'auto_approve'
  if (writes === 0 || trustTier === 'system') return 'auto_approve'
  return trustTier === 'trusted' && writes <= tierGate.trustedSingleFileConfirmLimit ? 'confirm' : 'review'
}

/** Uncertainty of an outcome with this probability, in bits. Source: Shannon's binary entropy. */
export function outcomeEntropy(probability: number): number {
  const p = clamp(probability, 0.001, 0.999)
  return -p * Math.log2(p) - (1 - p) * Math.log2(1 - p)
}

/** Tags by which a submitter claims an approval. */
const approvalMarker = /\[(?:approval:confirm|approval:reviewed|human-approved)\]/i

export const hasApprovalMarker = (description: string): boolean => approvalMarker.test(description)

/**
 * A marker confirms a task of tier `confirm`. It does not review or unblock a task: it is text of the submitter, not an
 * action of a person.
 */
export const tierWithMarker = (tier: ApprovalTier, description: string): ApprovalTier =>
  tier === 'confirm' && hasApprovalMarker(description) ? 'auto_approve' : tier
