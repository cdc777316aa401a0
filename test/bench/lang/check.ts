import {checkProgram} from '../../../src/lang/index.js'
import {median, round} from '../measure.js'

/** A program with a number of lines: typical tables, indexes, queries, mutations and plain functions. */
export function generateProgram(lines: number): string {
  const parts: string[] = []
  const perPart = 39
  for (let i = 0; i < lines / perPart; i++)
    parts.push(`/// Things of kind ${i}.
@table type Thing${i} {
    title: str
    done: bool
    weight: float
    note: Option[str]
    tags: List[str]
    n: int
}
@index Thing${i}.by_title on (title)
@index Thing${i}.by_n on (n, done)

@endpoint(kind: query)
fn list${i}(limit: int = 20) to List[Thing${i}] {
    return db.Thing${i}.where({ done: false, n: { gte: 1, lt: 100 } }).order_by(title).limit(limit)
}

@endpoint(kind: mutation)
fn add${i}(title: str, note: Option[str]) to Result[Id[Thing${i}]] {
    let clean = title.trim()
    if clean.is_empty() { return Error("a title is missing") }
    let id = db.Thing${i}.insert({ title: clean, done: false, weight: 1.5, note: note, tags: ["new"], n: 1 })?
    return Ok(id)
}

// Sums the weights of all open items.
fn weigh${i}(things: List[Thing${i}]) to float {
    let mut sum = 0.0
    for thing in things {
        if thing.done { continue }
        sum += thing.weight * thing.n
    }
    return sum
}
@endpoint(kind: query) fn weight${i}() to float {
    let all = db.Thing${i}.all()
    return weigh${i}(all)
}
`)
  return parts.join('\n')
}

/** JSON of the same number of bytes, with objects similar to those of programs. */
function jsonOfSize(bytes: number): string {
  const rows: object[] = []
  let size = 2
  for (let i = 0; size < bytes; i++) {
    const row = {kind: 'column', name: `title${i}`, nullable: i % 2 === 0, type: {name: 'str', args: [i, null]}}
    size += JSON.stringify(row).length + 1
    rows.push(row)
  }
  return JSON.stringify(rows)
}

function time(run: () => unknown): number {
  const started = performance.now()
  run()
  return performance.now() - started
}

/**
 * Time to check a generated program, relative to `JSON.parse` of as many bytes; and that of a program four times as
 * long.
 */
export async function langCheck() {
  const [small, large] = [generateProgram(20_000), generateProgram(80_000)]
  const json = jsonOfSize(small.length)
  if (checkProgram(small).diagnostics.length > 0) throw new Error('The generated program has diagnostics.')
  const times = {small: [] as number[], large: [] as number[], json: [] as number[]}
  for (let round_ = -2; round_ < 9; round_++) {
    const taken = {
      small: time(() => checkProgram(small)),
      json: time(() => JSON.parse(json)),
      large: time(() => checkProgram(large)),
    }
    if (round_ < 0) continue
    times.small.push(taken.small)
    times.large.push(taken.large)
    times.json.push(taken.json)
  }
  const [checkMs, largeMs, parseMs] = [median(times.small), median(times.large), median(times.json)]
  return {
    lines: small.split('\n').length,
    bytes: small.length,
    check_ms: round(checkMs),
    json_parse_ms: round(parseMs, 2),
    ratio_to_json_parse: round(checkMs / parseMs, 2),
    check_80k_ms: round(largeMs),
    ratio_80k_to_20k: round(largeMs / checkMs, 2),
  }
}
