import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {Application, checkProgram, migrate} from '../../../src/lang/index.js'
import {median, round} from '../measure.js'

const source = `@table type Reading { station: int, celsius: float, valid: bool, note: Option[str] }
@index Reading.by_station on (station)
@endpoint(kind: query) fn of_station(station: int) to List[Reading] { return db.Reading.filter({ station: station }) }
`
const rowCount = 1_000_000
const stations = rowCount / 100
const rounds = 41
const perRound = 200

interface RawRow {
  _id: number
  station: number
  celsius: number
  valid: number
  note: string | null
}

/**
 * Selects 100 of a million rows by an index: the program in process, compared with the raw statement and decoded rows.
 */
export async function langFilter() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const path = join(folder, 'readings.db')
  try {
    const program = checkProgram(source)
    await migrate(program, path)
    const application = await Application.open(program, {path})
    const {database} = application.writer
    database.exec(`INSERT INTO reading (station, celsius, valid, note)
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${rowCount - 1})
SELECT i % ${stations}, (i % 700) / 10.0, i % 3 > 0, CASE i % 5 WHEN 0 THEN NULL ELSE 'note ' || i END FROM n`)
    const [query] = program.functions
    if (query === undefined) throw new Error('The program has a query.')
    const statement = database.prepare<[bigint], RawRow>(
      'SELECT "_id", "station", "celsius", "valid", "note" FROM "reading" WHERE "station" = ?',
    )
    const raw = (station: number) => statement.all(BigInt(station)).map((row) => ({...row, valid: row.valid !== 0}))
    const time = async (run: (station: number) => unknown) => {
      const started = performance.now()
      for (let i = 0; i < perRound; i++) await run((i * 37) % stations)
      return performance.now() - started
    }
    const times = {svc: [] as number[], raw: [] as number[]}
    for (let i = -3; i < rounds; i++) {
      const svc = await time((station) => application.call(query, [station]))
      const hand = await time(raw)
      if (i < 0) continue
      times.svc.push(svc)
      times.raw.push(hand)
    }
    const ratios = times.svc.map((one, i) => one / (times.raw[i] as number))
    const rows = ((await application.call(query, [5])).value as unknown[]).length
    application.close()
    return {
      rows,
      svc_us: round((median(times.svc) * 1000) / perRound),
      raw_us: round((median(times.raw) * 1000) / perRound),
      ratio: round(median(ratios), 3),
    }
  } finally {
    await rm(folder, {recursive: true})
  }
}
