/**
 * Dynamic time warping: the cheapest monotonic path through `cost` `[rows, columns]` from the first to the last cell, in
 * steps of one row, one column or both. Source: Sakoe and Chiba 1978.
 * @returns the first column of the path in each row
 */
export function warpRows(cost: Float32Array, rows: number, columns: number): Int32Array {
  const moves = new Uint8Array(rows * columns)
  let above = new Float64Array(columns).fill(Infinity)
  for (let row = 0; row < rows; row++) {
    const current = new Float64Array(columns)
    for (let column = 0; column < columns; column++) {
      const both = column === 0 ? Infinity : above[column - 1]!
      const down = above[column]!
      const right = column === 0 ? Infinity : current[column - 1]!
      const start = row === 0 && column === 0
      const best = start ? 0 : Math.min(both, down, right)
      // Tie-breaking of openai/whisper: a diagonal move only if it is strictly better.
      moves[row * columns + column] = both < down && both < right ? diagonal : down < right ? vertical : horizontal
      current[column] = best + cost[row * columns + column]!
    }
    above = current
  }
  return firstColumns(moves, rows, columns)
}

const [diagonal, vertical, horizontal] = [0, 1, 2]

function firstColumns(moves: Uint8Array, rows: number, columns: number): Int32Array {
  const first = new Int32Array(rows)
  let row = rows - 1
  let column = columns - 1
  while (row > 0 || column > 0) {
    first[row] = column
    const move = row === 0 ? horizontal : column === 0 ? vertical : moves[row * columns + column]
    if (move !== horizontal) row--
    if (move !== vertical) column--
  }
  first[0] = 0
  return first
}
