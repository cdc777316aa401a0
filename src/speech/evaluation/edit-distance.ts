export interface Edits {
  substitutions: number
  insertions: number
  deletions: number
}

/**
 * The fewest edits that make one sequence of another, by the algorithm of Wagner and Fischer; among equal ones those
 * with the most substitutions. Time is the product of the lengths, memory the length of `to`.
 */
export function editDistance<T>(from: readonly T[], to: readonly T[]): Edits {
  let row: Edits[] = Array.from({length: to.length + 1}, (_, j) => ({substitutions: 0, insertions: j, deletions: 0}))
  for (let i = 1; i <= from.length; i++) {
    const next: Edits[] = [{substitutions: 0, insertions: 0, deletions: i}]
    for (let j = 1; j <= to.length; j++) {
      const [diagonal, above, left] = [row[j - 1] as Edits, row[j] as Edits, next[j - 1] as Edits]
      if (from[i - 1] === to[j - 1]) {
        next.push(diagonal)
        continue
      }
      const [d, a, l] = [totalEdits(diagonal), totalEdits(above), totalEdits(left)]
      if (d <= a && d <= l) next.push({...diagonal, substitutions: diagonal.substitutions + 1})
      else if (a <= l) next.push({...above, deletions: above.deletions + 1})
      else next.push({...left, insertions: left.insertions + 1})
    }
    row = next
  }
  return row[to.length] as Edits
}

export const totalEdits = ({substitutions, insertions, deletions}: Edits): number =>
  substitutions + insertions + deletions
