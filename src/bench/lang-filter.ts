import {join} from 'node:path'
import {Application, checkProgram, migrate} from '../lang/index.js'
import type {Benchmark, Result} from './benchmark.js'
import {median, medianRatio, round, rounds} from './measure.js'
import {withFolder} from './temporary.js'

const source = `@table type Reading { station: int, celsius: float, valid: bool, note: Option[str] }
@index Reading.by_station on (station)
@endpoint(kind: query) fn of_station(station: int) to List[Reading] { return db.Reading.filter({ station: station }) }
`
interface RawRow {
  _id: number
  station: number
  celsius: number
  valid: number
  note: string | null
}

export const langFilter: Benchmark = {
  name: 'lang-filter',
  measures: 'Time of a query that selects 100 of a million rows by an index.',
  base: 'the same statement, run directly with better-sqlite3',
  run: (signal) => measureFilter(signal),
}

const selected = 100
const perRound = 200

export const measureFilter = (
  signal: AbortSignal,
  {rowCount = 1_000_000, count = 41}: {rowCount?: number; count?: number} = {},
): Promise<Result> =>
  withFolder(async (folder) => {
    const path = join(folder, 'readings.db')
    const program = checkProgram(source)
    await migrate(program, path)
    const application = await Application.open(program, {path})
    try {
      return await measure(application, {signal, rowCount, count})
    } finally {
      application.close()
    }
  })

async function measure(
  application: Application,
  {signal, rowCount, count}: {signal: AbortSignal; rowCount: number; count: number},
): Promise<Result> {
  const stations = rowCount / selected
  const {database} = application.writer
  database.exec(`INSERT INTO reading (station, celsius, valid, note)
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${rowCount - 1})
SELECT i % ${stations}, (i % 700) / 10.0, i % 3 > 0, CASE i % 5 WHEN 0 THEN NULL ELSE 'note ' || i END FROM n`)
  const [query] = application.program.functions
  if (query === undefined) throw new Error('The program has a query.')
  const statement = database.prepare<[bigint], RawRow>(
    'SELECT "_id", "station", "celsius", "valid", "note" FROM "reading" WHERE "station" = ?',
  )
  const raw = (station: number) => statement.all(BigInt(station)).map((row) => ({...row, valid: row.valid !== 0}))
  const timeOf = async (run: (station: number) => unknown) => {
    const started = performance.now()
    for (let i = 0; i < perRound; i++) await run((i * 37) % stations)
    return performance.now() - started
  }
  const times = {svc: [] as number[], raw: [] as number[]}
  for await (const i of rounds(count, {warmUps: 3, signal})) {
    const svc = await timeOf((station) => application.call(query, [station]))
    const direct = await timeOf(raw)
    if (i < 0) continue
    times.svc.push(svc)
    times.raw.push(direct)
  }
  return {
    ratio: round(medianRatio(times.svc, times.raw), 3),
    figures: {
      rows: ((await application.call(query, [5])).value as unknown[]).length,
      query_us: round((median(times.svc) * 1000) / perRound),
      direct_us: round((median(times.raw) * 1000) / perRound),
    },
  }
}
