import {clamp} from '../base/clamp.js'

/**
 * Reliability of an agent, a model or a skill. Three measures with different memory: the success rate over all time, a
 * slow moving average, and a filter that weights recent outcomes most.
 */

/**
 * Success rate with one success and one failure added, so that little evidence has little effect; 0.5 without evidence.
 * Source: Laplace's rule of succession.
 */
export const reliabilityOf = (successes: number, failures: number): number =>
  (successes + 1) / (successes + failures + 2)

/** Exponential moving average of a score, 0 to 1. The first observation is used unchanged. */
export function rollUp(
  previous: number | undefined,
  {value, weight = 1}: {value: number; weight?: number},
  alpha: number,
): number {
  const observed = clamp(value, 0, 1)
  if (previous === undefined) return observed
  const share = clamp(alpha, 0.01, 1)
  return previous * (1 - share) + observed * clamp(weight, 0, 1) * share
}

/** Ordered from weakest to strongest. Only a person can assign `system`. */
export const trustTiers = ['untrusted', 'provisional', 'trusted', 'system'] as const
export type TrustTier = (typeof trustTiers)[number]

/** The trust in an agent. */
export interface Standing {
  /** 0 to 1. */
  trust: number
  /** Variance of `trust`. */
  variance: number
  tier: TrustTier
  /** Outcomes seen so far. */
  outcomes: number
  /** Consecutive outcomes that left the trust below the floor of the tier. */
  belowFloor: number
  /** A person has set the trust: outcomes are counted but do not change it. */
  pinned: boolean
}

export const newStanding: Standing = {
  trust: 0.5,
  variance: 0.25,
  tier: 'untrusted',
  outcomes: 0,
  belowFloor: 0,
  pinned: false,
}

/** Number of outcomes that each tier requires. */
export interface TrustPolicy {
  trustProvisionalThreshold: number
  trustTrustedThreshold: number
}

/** Minimum trust to reach and to keep each tier. */
const floors: Readonly<Record<TrustTier, number>> = {untrusted: 0, provisional: 0.45, trusted: 0.7, system: 0.9}
const outcomesBeforeDemotion = 3

/** Variances: how much an agent may change between two outcomes, and how noisy a single outcome is. */
const processNoise = 0.005
const outcomeNoise = 0.1

/** One step of a one-dimensional Kalman filter. */
export function filterTrust(
  {trust, variance}: Pick<Standing, 'trust' | 'variance'>,
  observed: number,
): Pick<Standing, 'trust' | 'variance'> {
  const before = Math.min(1, variance + processNoise)
  const gain = before / (before + outcomeNoise)
  return {trust: trust + gain * (observed - trust), variance: (1 - gain) * before}
}

/**
 * Updates the standing after an outcome. An agent is promoted as soon as it has the trust and the number of outcomes
 * for a tier. It is demoted by one tier after three consecutive outcomes below the floor of its tier.
 */
export function observeOutcome(standing: Standing, succeeded: boolean, policy: TrustPolicy): Standing {
  const outcomes = standing.outcomes + 1
  if (standing.pinned) return {...standing, outcomes}
  const {trust, variance} = filterTrust(standing, succeeded ? 1 : 0)
  const belowFloor = trust < floors[standing.tier] ? standing.belowFloor + 1 : 0
  const falls = belowFloor >= outcomesBeforeDemotion
  const tier = falls ? tierBelow(standing.tier) : higher(standing.tier, earnedTier(trust, outcomes, policy))
  return {trust, variance, tier, outcomes, belowFloor: falls ? 0 : belowFloor, pinned: false}
}

function earnedTier(trust: number, outcomes: number, policy: TrustPolicy): TrustTier {
  if (trust >= floors.trusted && outcomes >= policy.trustTrustedThreshold) return 'trusted'
  if (trust >= floors.provisional && outcomes >= policy.trustProvisionalThreshold) return 'provisional'
  return 'untrusted'
}

const rank = (tier: TrustTier) => trustTiers.indexOf(tier)
const higher = (one: TrustTier, other: TrustTier) => (rank(one) >= rank(other) ? one : other)
const tierBelow = (tier: TrustTier) => trustTiers[Math.max(0, rank(tier) - 1)] ?? 'untrusted'
