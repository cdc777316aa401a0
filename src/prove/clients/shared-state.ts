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

/** What clients know of each other, so that some can try what is not theirs. */
export interface SharedState {
  addLease(lease: KnownLease): void
  /** One of the last leases that somebody was granted. */
  pickLease(random: Random): KnownLease | undefined
  addClaim(claim: KnownClaim): void
  pickClaim(random: Random): KnownClaim | undefined
  /** A number for an incarnation that no other has. */
  nextIncarnation(): number
  /** Nodes of clients, which administrators may be unkind to. */
  readonly nodes: Set<string>
}

const mostKept = 24

export function createSharedState(): SharedState {
  const leases: KnownLease[] = []
  const claims: KnownClaim[] = []
  let incarnations = 0
  const post = <T>(list: T[], item: T) => {
    list.push(item)
    if (list.length > mostKept) list.shift()
  }
  // The newest half of the time: what is still held is what is worth trying.
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
