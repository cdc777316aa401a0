/**
 * How far an agent, a model or a skill can be relied on. Three measures of different memory: the share of successes of
 * all times, a moving average that forgets slowly, and a filter that believes the last outcomes most.
 */

/**
 * Share of successes with one of each added beforehand, so that little evidence says little: 0.5 without any.
 * Source: Laplace's rule of succession.
 */
export const reliabilityOf = (successes: number, failures: number): number =>
  (successes + 1) / (successes + failures + 2)

/** What one observation leaves of a rolled-up score, 0 to 1: the first one stands as it is. */
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

/** Weakest first. Only a person gives the last one. */
export const trustTiers = ['untrusted', 'provisional', 'trusted', 'system'] as const
export type TrustTier = (typeof trustTiers)[number]

/** What is thought of an agent. */
export interface Standing {
  /** 0 to 1. */
  trust: number
  /** How unsure that is. */
  variance: number
  tier: TrustTier
  /** Outcomes seen so far. */
  outcomes: number
  /** Outcomes in a row that left the trust below the floor of the tier. */
  belowFloor: number
  /** A person has set the trust: outcomes are counted but change nothing. */
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

/** How many outcomes a tier takes. */
export interface TrustPolicy {
  trustProvisionalThreshold: number
  trustTrustedThreshold: number
}

/** The trust below which an agent does not stay in a tier, and which it takes to come to it. */
const floors: Readonly<Record<TrustTier, number>> = {untrusted: 0, provisional: 0.45, trusted: 0.7, system: 0.9}
const outcomesBeforeDemotion = 3

/** How much an agent may change between two outcomes, and how much one outcome may mislead: variances. */
const processNoise = 0.005
const outcomeNoise = 0.1

/** One step of a Kalman filter of one dimension. */
export function filterTrust(
  {trust, variance}: Pick<Standing, 'trust' | 'variance'>,
  observed: number,
): Pick<Standing, 'trust' | 'variance'> {
  const before = Math.min(1, variance + processNoise)
  const gain = before / (before + outcomeNoise)
  return {trust: trust + gain * (observed - trust), variance: (1 - gain) * before}
}

/**
 * The standing after an outcome. An agent rises as soon as it has the trust and the outcomes for a tier, and falls by
 * one tier after three outcomes in a row below the floor of its own.
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

const clamp = (value: number, least: number, most: number) => Math.min(Math.max(value, least), most)
