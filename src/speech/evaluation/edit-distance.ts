export interface Edits {
  substitutions: number
  insertions: number
  deletions: number
}

/**
 * Returns the minimum number of edits from one sequence to another; among equal minima, the one with the most
 * substitutions. Items are compared by value.
 *
 * Computes a band of the table of Wagner and Fischer ("The String-to-String Correction Problem", 1974) around the
 * diagonal. Doubles its width until it contains the result (Ukkonen, "Algorithms for Approximate String Matching",
 * 1985). Time is proportional to length times edits; memory is one row.
 */
export function editDistance<T>(from: readonly T[], to: readonly T[]): Edits {
  const [a, b] = numbered(from, to)
  // The cost combines both criteria: an edit costs `edit`, and a substitution is cheaper by 1, which never adds up to
  // an edit.
  const edit = Math.min(a.length, b.length) + 1
  const surplus = a.length - b.length
  let band = Math.max(32, Math.abs(surplus))
  let cost = bandedCost(a, b, edit, band)
  while (Math.ceil(cost / edit) > band) {
    band *= 2
    cost = bandedCost(a, b, edit, band)
  }
  const edits = Math.ceil(cost / edit)
  const substitutions = edits * edit - cost
  const deletions = (edits - substitutions + surplus) / 2
  return {substitutions, insertions: deletions - surplus, deletions}
}

/** Maps items to numbers, which compare faster. */
function numbered<T>(from: readonly T[], to: readonly T[]): [Int32Array, Int32Array] {
  const numbers = new Map<T, number>()
  const numberOf = (item: T) => {
    const number = numbers.get(item) ?? numbers.size
    numbers.set(item, number)
    return number
  }
  return [Int32Array.from(from, numberOf), Int32Array.from(to, numberOf)]
}

/** Returns the minimum cost of paths within `band` cells of the diagonal; it is exact if it is at most `band` edits. */
function bandedCost(a: Int32Array, b: Int32Array, edit: number, band: number): number {
  // Row i replaces row i - 1 in place.
  const row = Float64Array.from({length: b.length + 1}, (_, j) => (j > band ? Infinity : j * edit))
  for (let i = 1; i <= a.length; i++) {
    const first = Math.max(1, i - band)
    const last = Math.min(b.length, i + band)
    const item = a[i - 1]
    let diagonal = row[first - 1] as number
    let left = i > band ? Infinity : i * edit
    row[first - 1] = left
    for (let j = first; j <= last; j++) {
      const above = row[j] as number
      const changed = diagonal + (item === b[j - 1] ? 0 : edit - 1)
      const moved = (above < left ? above : left) + edit
      left = changed < moved ? changed : moved
      row[j] = left
      diagonal = above
    }
  }
  return row[b.length] as number
}

export const totalEdits = ({substitutions, insertions, deletions}: Edits): number =>
  substitutions + insertions + deletions
