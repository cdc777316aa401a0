import {SvcError} from '../../../src/errors/index.js'
import type {MeshStore} from '../../../src/mesh/store/mesh-store.js'

export type TokenStore = Pick<MeshStore, 'now' | 'useTokenId' | 'useBootstrap'>

/** Noon of a day, Unix ms. */
export const noon = Date.UTC(2026, 5, 1, 12)

/** In-memory store of used tokens with a manual clock. It deletes ids as soon as permitted. */
export function tokenStore(): TokenStore & {
  clock: {ms: number}
  ids: Map<string, number>
  /** Maximum number of ids. */
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

/** Error code with which a function fails; undefined on success. */
export async function codeOf(attempt: () => unknown): Promise<string | undefined> {
  try {
    await attempt()
    return undefined
  } catch (error) {
    if (error instanceof SvcError) return error.code
    throw error
  }
}
