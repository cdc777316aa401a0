import type {Turn} from './session.js'

/** When and how the turns of a session are summarised. */
export interface Compaction {
  readonly maxContextTokens: number
  readonly reservedTokens: number
  /** Share of the tokens that are not reserved, 0 to 1. */
  readonly compactionThreshold: number
  readonly minViableTokens: number
  readonly strategy: 'balanced' | 'recent' | 'full' | 'off'
  readonly headPreserveTokens: number
  readonly tailPreserveTokens: number
}

/** Assumed UTF-8 bytes per token, a conservative estimate. */
const bytesPerToken = 3

const tokensOf = ({content}: Turn): number => Math.ceil(Buffer.byteLength(content) / bytesPerToken)

const sum = (turns: readonly Turn[]): number => turns.reduce((total, turn) => total + tokensOf(turn), 0)

/** The numbers of first and last turns to keep if a summary is due; undefined if none is. */
export function dueCompaction(
  turns: readonly Turn[],
  compaction: Compaction,
): {head: number; tail: number} | undefined {
  const {maxContextTokens, reservedTokens, compactionThreshold, minViableTokens, strategy} = compaction
  if (strategy === 'off') return undefined
  if (sum(turns) <= Math.max(0, maxContextTokens - reservedTokens) * compactionThreshold) return undefined
  const head = strategy === 'balanced' ? countWithin(turns, compaction.headPreserveTokens) : 0
  const rest = turns.slice(head).toReversed()
  const tail = strategy === 'full' ? 0 : countWithin(rest, compaction.tailPreserveTokens)
  const replaced = turns.slice(head, turns.length - tail)
  return replaced.length > 1 && sum(replaced) >= minViableTokens ? {head, tail} : undefined
}

/** How many of the first turns fit in a number of tokens. */
function countWithin(turns: readonly Turn[], tokens: number): number {
  let left = tokens
  const end = turns.findIndex((turn) => {
    left -= tokensOf(turn)
    return left < 0
  })
  return end === -1 ? turns.length : end
}
