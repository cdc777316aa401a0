import type {Pattern} from '../grammar.js'

/** True if the pattern matches the whole text. For short texts: names of properties and values of enumerations. */
export function matchesText(pattern: Pattern, value: string): boolean {
  const points = [...value].map((character) => character.codePointAt(0)!)
  return endsOf(pattern, points, 0).has(points.length)
}

/** The positions where a match that starts at the position can end. */
function endsOf(pattern: Pattern, points: readonly number[], start: number): ReadonlySet<number> {
  switch (pattern.kind) {
    case 'text': {
      const expected = [...pattern.text].map((character) => character.codePointAt(0)!)
      const equal = expected.every((point, index) => points[start + index] === point)
      return new Set(equal ? [start + expected.length] : [])
    }
    case 'characters': {
      const point = points[start]
      const inside = point !== undefined && pattern.ranges.some(([from, to]) => from <= point && point <= to)
      return new Set(inside ? [start + 1] : [])
    }
    case 'sequence':
      return pattern.parts.reduce<ReadonlySet<number>>((ends, part) => next(part, points, ends), new Set([start]))
    case 'either':
      return new Set(pattern.options.flatMap((option) => [...endsOf(option, points, start)]))
    case 'repeat':
      return repetitions(pattern, points, start)
    case 'both': {
      const [first, ...rest] = pattern.parts.map((part) => endsOf(part, points, start))
      return new Set([...first!].filter((end) => rest.every((ends) => ends.has(end))))
    }
    case 'not': {
      const ends = endsOf(pattern.part, points, start)
      return new Set(Array.from({length: points.length - start + 1}, (_, i) => start + i).filter((i) => !ends.has(i)))
    }
  }
}

const next = (part: Pattern, points: readonly number[], starts: ReadonlySet<number>): ReadonlySet<number> =>
  new Set([...starts].flatMap((from) => [...endsOf(part, points, from)]))

function repetitions(
  {part, min, max}: Extract<Pattern, {kind: 'repeat'}>,
  points: readonly number[],
  start: number,
): ReadonlySet<number> {
  const all = new Set<number>()
  let ends: ReadonlySet<number> = new Set([start])
  for (let count = 0; count <= max && ends.size > 0; count++) {
    const size = all.size
    if (count >= min) for (const end of ends) all.add(end)
    // Further repetitions reach nothing new.
    if (count > min + points.length && all.size === size) break
    ends = next(part, points, ends)
  }
  return all
}
