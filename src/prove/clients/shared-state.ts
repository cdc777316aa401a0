import type {Random} from '../faults/random.js'

export interface KnownLease {
  lease: string
  scopeKey: string
  holder: string
}

export interface KnownClaim {
  message: number
  receiver: string
  holder: string
}

/** Leases and claims known to all clients, so that some can try to use those of others. */
export interface SharedState {
  addLease(lease: KnownLease): void
  pickLease(random: Random): KnownLease | undefined
  addClaim(claim: KnownClaim): void
  pickClaim(random: Random): KnownClaim | undefined
  nextIncarnation(): number
  /** Nodes of the clients, which administrators may ban. */
  readonly nodes: Set<string>
}

const maxItems = 24

export function createSharedState(): SharedState {
  const leases: KnownLease[] = []
  const claims: KnownClaim[] = []
  let incarnations = 0
  const post = <T>(list: T[], item: T) => {
    list.push(item)
    if (list.length > maxItems) list.shift()
  }
  // Prefer the newest item: it is most likely still held.
  const some = <T>(list: readonly T[], random: Random): T | undefined =>
    random.chance(0.5) ? list.at(-1) : list[random.integer(0, list.length - 1)]
  return {
    addLease: (lease) => post(leases, lease),
    pickLease: (random) => some(leases, random),
    addClaim: (claim) => post(claims, claim),
    pickClaim: (random) => some(claims, random),
    nextIncarnation: () => ++incarnations,
    nodes: new Set(),
  }
}
