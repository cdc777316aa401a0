export interface Edits {
  substitutions: number
  insertions: number
  deletions: number
}

/**
 * The fewest edits that make one sequence of another; among equally few those with the most substitutions. Equal items
 * are the same value.
 *
 * The table of Wagner and Fischer ("The String-to-String Correction Problem", 1974), of which only a band along the
 * diagonal is computed, twice as wide each time until the result lies inside (Ukkonen, "Algorithms for Approximate
 * String Matching", 1985). Time is the length times the edits, memory two rows.
 */
export function editDistance<T>(from: readonly T[], to: readonly T[]): Edits {
  const [a, b] = numbered(from, to)
  // One number holds both aims: each edit costs `edit`, and a substitution gives 1 back, which never adds up to an edit.
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

/** Numbers in place of items, as they compare faster. */
function numbered<T>(from: readonly T[], to: readonly T[]): [Int32Array, Int32Array] {
  const numbers = new Map<T, number>()
  const numberOf = (item: T) => {
    const number = numbers.get(item) ?? numbers.size
    numbers.set(item, number)
    return number
  }
  return [Int32Array.from(from, numberOf), Int32Array.from(to, numberOf)]
}

/** The least cost by paths that stay `band` or fewer cells from the diagonal; right where it is `band` edits or fewer. */
function bandedCost(a: Int32Array, b: Int32Array, edit: number, band: number): number {
  let above = Float64Array.from({length: b.length + 1}, (_, j) => (j > band ? Infinity : j * edit))
  let row = new Float64Array(b.length + 1)
  for (let i = 1; i <= a.length; i++) {
    const first = Math.max(1, i - band)
    const last = Math.min(b.length, i + band)
    row[first - 1] = first === 1 ? i * edit : Infinity
    for (let j = first; j <= last; j++) {
      const kept = (above[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : edit - 1)
      row[j] = Math.min(kept, (above[j] as number) + edit, (row[j - 1] as number) + edit)
    }
    // The next row reads one cell further, where an older row may have left its cost.
    if (last < b.length) row[last + 1] = Infinity
    ;[above, row] = [row, above]
  }
  return above[b.length] as number
}

export const totalEdits = ({substitutions, insertions, deletions}: Edits): number =>
  substitutions + insertions + deletions
