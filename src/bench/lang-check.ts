import {checkProgram} from '../lang/index.js'
import type {Benchmark, Result} from './benchmark.js'
import {median, medianRatio, round, rounds, time} from './measure.js'

/** A program with a number of lines: typical tables, indexes, queries, mutations and plain functions. */
function generateProgram(lines: number): string {
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

export const langCheck: Benchmark = {
  name: 'lang-check',
  measures: 'Time to check a generated program of 20,000 lines, and of one four times as long.',
  base: 'JSON.parse of as many bytes',
  run: (signal) => measureChecks(signal),
}

export async function measureChecks(signal: AbortSignal, {lines = 20_000, count = 9} = {}): Promise<Result> {
  const [small, large] = [generateProgram(lines), generateProgram(4 * lines)]
  const json = jsonOfSize(small.length)
  if (checkProgram(small).diagnostics.length > 0) throw new Error('The generated program has diagnostics.')
  const times = {small: [] as number[], large: [] as number[], json: [] as number[]}
  for await (const i of rounds(count, {warmUps: 2, signal})) {
    const taken = {
      small: time(() => checkProgram(small)),
      json: time(() => JSON.parse(json)),
      large: time(() => checkProgram(large)),
    }
    if (i < 0) continue
    times.small.push(taken.small)
    times.large.push(taken.large)
    times.json.push(taken.json)
  }
  const [checkMs, largeMs] = [median(times.small), median(times.large)]
  return {
    ratio: round(medianRatio(times.small, times.json), 2),
    figures: {
      lines: small.split('\n').length,
      bytes: small.length,
      check_ms: round(checkMs),
      json_parse_ms: round(median(times.json), 2),
      check_4_times_ms: round(largeMs),
      ratio_4_times: round(largeMs / checkMs, 2),
    },
  }
}
