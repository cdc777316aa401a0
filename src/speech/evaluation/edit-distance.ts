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
 * String Matching", 1985). Time is the length times the edits, memory a row.
 */
export function editDistance<T>(from: readonly T[], to: readonly T[]): Edits {
  const [a, b] = numbered(from, to)
  // One number holds both aims: an edit costs `edit`, and a substitution gives 1 back, which never adds up to an edit.
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

/** The least cost by paths within `band` cells of the diagonal: the true one where that is `band` edits or fewer. */
function bandedCost(a: Int32Array, b: Int32Array, edit: number, band: number): number {
  // Row i of the table takes the place of row i - 1, cell by cell.
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
