import {createRequire} from 'node:module'
import {join} from 'node:path'
import type {Database} from 'better-sqlite3'
import {median, medianRatio, round, rounds} from '../../../src/bench/measure.js'
import {withFolder} from '../../../src/bench/temporary.js'
import {Application, checkProgram, migrate} from '../../../src/lang/index.js'

const source = `@table type Sale { item: str, amount: int }
@table type Order { buyer: str }
@table type Line { order: Id[Order], item: str, count: int }
@table type Event { at: int, text: str }
@index Line.by_order on (order)
@index Event.by_at on (at)
type OrderView { _id: Id[Order], buyer: str, lines: List[Line] }
@endpoint(kind: query) fn total() to int { db.Sale.where({ amount: { gte: 10 } }).sum(amount) }
@endpoint(kind: query) fn orders() to List[OrderView] { db.Order.include({ lines: Line.order }) }
@endpoint(kind: query) fn events(after: Option[str]) to Page[Event] { db.Event.order_by(at).page(50, after) }
fn add() to dec {
    let mut total = 0dec
    for i in range(0, 400000) { total = total + 0.01dec }
    return total
}
`
const rowsOf = (table: string, columns: string, values: string, count: number) =>
  `INSERT INTO "${table}" (${columns}) WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1}) SELECT ${values} FROM n`

const sizes = {sales: 200_000, orders: 1000, lines: 10_000, events: 1_000_000}
/** Measured rounds, and calls of a short query in each. */
const count = 15
const perRound = 20

/**
 * Compares queries with the same in SQL by hand, and a page in the middle of a table with its first page. Also compares
 * additions of decimals with decimal.js, if `SVC_BENCH_DECIMAL_JS` names a folder that has it.
 */
export const langQueries = () =>
  withFolder(async (folder) => {
    const path = join(folder, 'shop.db')
    const program = checkProgram(source)
    await migrate(program, path)
    const application = await Application.open(program, {path})
    try {
      const {database} = application.writer
      database.exec(rowsOf('sale', '"item", "amount"', `'item ' || (i % 50), i % 100`, sizes.sales))
      database.exec(rowsOf('order', '"buyer"', `'buyer ' || i`, sizes.orders))
      database.exec(
        rowsOf('line', '"order", "item", "count"', `1 + i % ${sizes.orders}, 'item ' || i, i % 7`, sizes.lines),
      )
      database.exec(rowsOf('event', '"at", "text"', `i, 'event ' || i`, sizes.events))
      return await measure(application, database)
    } finally {
      application.close()
    }
  })

async function measure(application: Application, database: Database) {
  const call = async (name: string, ...args: (string | undefined)[]) => {
    const found = application.program.functions.find((each) => each.name === name)
    if (found === undefined) throw new Error(`The program has no function ${name}.`)
    return (await application.call(found, args)).value
  }
  const total = database.prepare<[], number>('SELECT sum("amount") FROM "sale" WHERE "amount" >= 10').pluck()
  const joined = database.prepare<[], [number, string, number, string, number]>(
    'SELECT o."_id", o."buyer", l."_id", l."item", l."count" FROM "order" AS o JOIN "line" AS l ON l."order" = o."_id" ORDER BY o."_id", l."_id"',
  )
  const ordersByHand = () => {
    const found = new Map<number, {_id: number; buyer: string; lines: object[]}>()
    for (const [_id, buyer, line, item, amount] of joined.raw().iterate()) {
      const order = found.get(_id) ?? {_id, buyer, lines: []}
      if (order.lines.push({_id: line, order: _id, item, count: amount}) === 1) found.set(_id, order)
    }
    return [...found.values()]
  }
  const middle = await cursorAt(database, call)
  const pages = async (after: string | undefined) => {
    for (let i = 0; i < perRound; i++) await call('events', after)
  }
  return {
    sum_of_rows: await ratio(
      () => call('total'),
      () => total.get(),
    ),
    include: await ratio(() => call('orders'), ordersByHand),
    later_page: await ratio(
      () => pages(middle),
      () => pages(undefined),
    ),
    decimals: await decimals(() => call('add')),
    ...sizes,
  }
}

/** The cursor of a page in the middle of the events, which are in the order of their ids. */
async function cursorAt(database: Database, call: (name: string, after?: string) => Promise<unknown>): Promise<string> {
  database.exec(`UPDATE "event" SET "at" = "at" + ${sizes.events} WHERE "_id" <= ${sizes.events / 2}`)
  const {next} = (await call('events')) as {next: {value: string}}
  database.exec(`UPDATE "event" SET "at" = "at" - ${sizes.events} WHERE "_id" <= ${sizes.events / 2}`)
  return next.value
}

async function decimals(run: () => Promise<unknown>) {
  const folder = process.env.SVC_BENCH_DECIMAL_JS
  if (folder === undefined) return undefined
  const Decimal = createRequire(join(folder, 'package.json'))('decimal.js')
  return ratio(run, () => {
    let total = new Decimal(0)
    for (let i = 0; i < 400_000; i++) total = total.plus('0.01')
    return total
  })
}

/** Ratio of the times of two functions, and the time of each, ms. */
async function ratio(svc: () => unknown, base: () => unknown) {
  const times = {svc: [] as number[], base: [] as number[]}
  const timeOf = async (run: () => unknown) => {
    const started = performance.now()
    await run()
    return performance.now() - started
  }
  for await (const i of rounds(count, {warmUps: 3, signal: new AbortController().signal})) {
    const [own, other] = [await timeOf(svc), await timeOf(base)]
    if (i < 0) continue
    times.svc.push(own)
    times.base.push(other)
  }
  return {
    ratio: round(medianRatio(times.svc, times.base), 2),
    svc_ms: round(median(times.svc), 2),
    base_ms: round(median(times.base), 2),
  }
}
