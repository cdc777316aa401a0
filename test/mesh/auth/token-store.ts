import {SvcError} from '../../../src/errors/index.js'
import type {MeshStore} from '../../../src/mesh/store/mesh-store.js'

export type TokenStore = Pick<MeshStore, 'now' | 'useTokenId' | 'useBootstrap'>

/** Noon of a day, Unix ms. */
export const noon = Date.UTC(2026, 5, 1, 12)

/** What a store remembers of tokens, with a clock that a test sets; it forgets as soon as it may. */
export function tokenStore(): TokenStore & {
  clock: {ms: number}
  ids: Map<string, number>
  /** Ids that it can keep at once. */
  room: number
} {
  const clock = {ms: noon}
  const ids = new Map<string, number>()
  const used = new Set<string>()
  return {
    clock,
    ids,
    room: Number.POSITIVE_INFINITY,
    now: () => clock.ms,
    async useTokenId(id, keepUntilMs) {
      for (const [known, until] of ids) if (until <= clock.ms) ids.delete(known)
      if (ids.has(id)) return false
      if (ids.size >= this.room) throw new SvcError('overloaded', {reason: 'There is no room for another token.'})
      ids.set(id, keepUntilMs)
      return true
    },
    async useBootstrap(_scope, digest) {
      if (used.has(digest)) throw new SvcError('bootstrap_consumed', {})
      used.add(digest)
    },
  }
}

/** The code of the error that something fails with; undefined where it does not fail. */
export async function codeOf(attempt: () => unknown): Promise<string | undefined> {
  try {
    await attempt()
    return undefined
  } catch (error) {
    if (error instanceof SvcError) return error.code
    throw error
  }
}
