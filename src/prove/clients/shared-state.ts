import type {Random} from '../faults/random.js'

export interface PostedLease {
  lease: string
  scopeKey: string
  holder: string
}

export interface PostedClaim {
  message: number
  receiver: string
  holder: string
}

/** What clients know of each other, so that some can try what is not theirs. */
export interface Board {
  postLease(lease: PostedLease): void
  /** One of the last leases that somebody was granted. */
  someLease(random: Random): PostedLease | undefined
  postClaim(claim: PostedClaim): void
  someClaim(random: Random): PostedClaim | undefined
  /** A number for an incarnation that no other has. */
  nextIncarnation(): number
  /** Nodes of clients, which administrators may be unkind to. */
  readonly nodes: Set<string>
}

const mostPosted = 24

export function createBoard(): Board {
  const leases: PostedLease[] = []
  const claims: PostedClaim[] = []
  let incarnations = 0
  const post = <T>(list: T[], item: T) => {
    list.push(item)
    if (list.length > mostPosted) list.shift()
  }
  // The newest half of the time: what is still held is what is worth trying.
  const some = <T>(list: readonly T[], random: Random): T | undefined =>
    random.chance(0.5) ? list.at(-1) : list[random.integer(0, list.length - 1)]
  return {
    postLease: (lease) => post(leases, lease),
    someLease: (random) => some(leases, random),
    postClaim: (claim) => post(claims, claim),
    someClaim: (random) => some(claims, random),
    nextIncarnation: () => ++incarnations,
    nodes: new Set(),
  }
}
