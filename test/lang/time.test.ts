import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  Application,
  checkProgram,
  clientFile,
  type FunctionType,
  formatSource,
  openapi,
  pureFunction,
  schemasFile,
  toJson,
} from '../../src/lang/index.js'
import {seeded} from '../support/random.js'
import {database, decide, migrated, program, refused, values} from './databases.js'

const result = (source: string) => {
  const {diagnostics, functions} = checkProgram(source)
  assert.deepEqual(diagnostics, [], source)
  return toJson(pureFunction(functions.at(-1) as FunctionType)())
}
const value = (expression: string, type: string) => result(`fn f() to ${type} { ${expression} }\n`)
const mistakes = (source: string) =>
  checkProgram(source).diagnostics.map(({message, hints = []}) => [message, ...hints].join(' '))

const day = 'Date("2024-01-31")'
const noon = 'DateTime("2024-02-29T12:30:15.250Z")'

const cases: readonly (readonly [expression: string, type: string, expected: unknown])[] = [
  [day, 'Date', '2024-01-31'],
  ['DateTime("2024-05-31t10:00+02:00")', 'DateTime', '2024-05-31T08:00:00.000Z'],
  ['DateTime("2024-01-01 00:30:00,123456789-0100")', 'DateTime', '2024-01-01T01:30:00.123Z'],
  ['DateTime(1700000000000)', 'DateTime', '2023-11-14T22:13:20.000Z'],
  [`DateTime(${day})`, 'DateTime', '2024-01-31T00:00:00.000Z'],
  [`Date(${noon})`, 'Date', '2024-02-29'],
  ['Date.of(2000, 2, 29)', 'Date', '2000-02-29'],
  ['Date.of(7, 1, 2)', 'Date', '0007-01-02'],
  [`${day}.at(9, 30)`, 'DateTime', '2024-01-31T09:30:00.000Z'],
  [`${day}.add_months(1)`, 'Date', '2024-02-29'],
  [`${day}.add_months(-11)`, 'Date', '2023-02-28'],
  [`${noon}.add_years(-1)`, 'DateTime', '2023-02-28T12:30:15.250Z'],
  [`${day}.add_days(30)`, 'Date', '2024-03-01'],
  [`${day} + Duration.days(1)`, 'Date', '2024-02-01'],
  [`Duration.days(1) + ${day} - Duration.days(31)`, 'Date', '2024-01-01'],
  [`${day} - Date("2023-01-31")`, 'Duration', 'P365D'],
  [`${noon} + Duration.hours(12) - Duration("PT15.25S")`, 'DateTime', '2024-03-01T00:30:00.000Z'],
  [`${noon} - DateTime("2024-02-29T12:30:16Z")`, 'Duration', '-PT0.75S'],
  ['Duration("P1W") + Duration("PT90M")', 'Duration', 'P7DT1H30M'],
  ['Duration("PT90M") * 2 - Duration.minutes(0.5)', 'Duration', 'PT2H59M30S'],
  ['3 * Duration.seconds(1) / 2', 'Duration', 'PT1.5S'],
  ['Duration.days(1) / Duration.hours(1)', 'float', 24],
  ['-Duration.hours(25)', 'Duration', '-P1DT1H'],
  ['(-Duration.hours(1)).abs()', 'Duration', 'PT1H'],
  ['Duration.milliseconds(0)', 'Duration', 'PT0S'],
  ['(Duration.minutes(90).hours(), Duration.minutes(90).milliseconds())', '(float, int)', [1.5, 5_400_000]],
  [`(${day}.year(), ${day}.month(), ${day}.day(), ${day}.weekday())`, '(int, int, int, int)', [2024, 1, 31, 3]],
  [
    `(${noon}.hour(), ${noon}.minute(), ${noon}.second(), ${noon}.millisecond())`,
    '(int, int, int, int)',
    [12, 30, 15, 250],
  ],
  [`(${noon}.date(), ${noon}.to_ms(), ${noon}.day_of_year())`, '(Date, int, int)', ['2024-02-29', 1709209815250, 60]],
  ['(Date("2021-01-03").week(), Date("2020-12-31").week(), Date("2024-12-30").week())', '(int, int, int)', [53, 53, 1]],
  [
    `["minute", "hour", "day", "week", "month", "quarter", "year"].map(unit => ${noon}.start_of(unit))`,
    'List[DateTime]',
    [
      '2024-02-29T12:30:00.000Z',
      '2024-02-29T12:00:00.000Z',
      '2024-02-29T00:00:00.000Z',
      '2024-02-26T00:00:00.000Z',
      '2024-02-01T00:00:00.000Z',
      '2024-01-01T00:00:00.000Z',
      '2024-01-01T00:00:00.000Z',
    ],
  ],
  ['Date("1969-12-31").start_of("week")', 'Date', '1969-12-29'],
  [`${noon}.format("%A %a")`, 'str', 'Thursday Thu'],
  [
    `${noon}.format("%d.%m.%Y %H:%M:%S.%L %B %b %j %u %G-W%V 100%%")`,
    'str',
    '29.02.2024 12:30:15.250 February Feb 060 4 2024-W09 100%',
  ],
  ['Date.parse("2023-02-29")', 'Result[Date]', {_tag: 'Error', value: '2023-02-29 is not a Date such as 2024-05-31'}],
  ['DateTime.parse("2024-01-01T00:00:00Z")', 'Result[DateTime]', {_tag: 'Ok', value: '2024-01-01T00:00:00.000Z'}],
  ['Duration.parse("P1M").is_err()', 'bool', true],
  [`${day} < Date("2024-02-01") and ${noon} >= ${noon}`, 'bool', true],
  ['Duration("PT10S") > Duration("PT9S") and Duration("P1D") is Duration("PT24H")', 'bool', true],
  ['[Duration("PT10S"), Duration("PT9S"), Duration("P1D")].sort()', 'List[Duration]', ['PT9S', 'PT10S', 'P1D']],
  ['[Duration("PT10S"), Duration("PT9S")].sum()', 'Duration', 'PT19S'],
  ['[Duration("PT10S"), Duration("PT9S")].avg()', 'Option[Duration]', 'PT9.5S'],
  [`[${day}, Date("2023-01-01")].min()`, 'Option[Date]', '2023-01-01'],
  [
    `[${day}, Date("2024-01-02")].group_by(d => d.start_of("month"))`,
    'Map[str, List[Date]]',
    {'2024-01-01': ['2024-01-31', '2024-01-02']},
  ],
  [`f"on {${day}}"`, 'str', 'on 2024-01-31'],
  ['Date("9999-12-31").at(23, 59, 59)', 'DateTime', '9999-12-31T23:59:59.000Z'],
]

describe('dates, times and durations', () => {
  it('are calculated in UTC', () => {
    for (const [expression, type, expected] of cases) assert.deepEqual(value(expression, type), expected, expression)
  })

  it('do not depend on the time zone of the machine', () => {
    const before = process.env.TZ
    try {
      for (const zone of ['America/New_York', 'Asia/Kathmandu', 'Pacific/Apia']) {
        process.env.TZ = zone
        for (const [expression, type, expected] of cases)
          assert.deepEqual(value(expression, type), expected, expression)
      }
    } finally {
      if (before === undefined) delete process.env.TZ
      else process.env.TZ = before
    }
  })

  it('have the current time', () => {
    const before = Date.now()
    const now = Date.parse(String(value('DateTime.now()', 'DateTime')))
    assert.ok(now >= before && now <= Date.now())
    assert.equal(value('Date.today() >= Date("2024-01-01")', 'bool'), true)
  })

  it('fail outside the years 1 to 9999, and for days that do not exist', () => {
    assert.throws(() => value('Date("9999-12-31").add_days(1)', 'Date'), {reason: 'INT_OVERFLOW'})
    assert.throws(() => value('Date("0001-01-01").add_months(-1)', 'Date'), {reason: 'INT_OVERFLOW'})
    assert.throws(() => value('Duration.days(999999999999.0)', 'Duration'), {reason: 'INT_OVERFLOW'})
    assert.throws(() => value('Date.of(2023, 2, 29)', 'Date'), {reason: 'CONVERSION'})
    assert.throws(() => value('let s = "2024-1-1"\n Date(s)', 'Date'), {reason: 'CONVERSION'})
    assert.throws(() => value(`${day} + Duration.hours(1)`, 'Date'), {reason: 'CONVERSION'})
    assert.throws(() => value(`${day}.at(24)`, 'DateTime'), {reason: 'CONVERSION'})
    assert.throws(() => value('Duration.days(1) / 0', 'Duration'), {reason: 'DIVISION_BY_ZERO'})
    assert.throws(() => value(`let unit = "era"\n ${day}.start_of(unit)`, 'Date'), {reason: 'CONVERSION'})
  })

  it('accept only texts with one meaning', () => {
    const wrong = {
      Date: ['2023-02-29', '2024-13-01', '24-01-01', '2024-01-01T00:00:00Z', '0000-01-01', ''],
      DateTime: [
        '2024-01-01',
        '2024-01-01T10:00:00',
        '2024-01-01T24:00:00Z',
        '2024-01-01T23:59:60Z',
        '0001-01-01T00:00+01:00',
      ],
      Duration: ['P', 'PT', 'P1DT', 'P1Y', 'P1M', '1h', 'PT1.5H', 'P99999999999999999D'],
    }
    for (const [name, texts] of Object.entries(wrong))
      for (const text of texts)
        assert.match(
          mistakes(`fn f() { let x = ${name}("${text}") }\n`)[0] ?? '',
          new RegExp(`is not a ${name}\\. For example`),
          text,
        )
  })

  it('have errors that name the operation to use', () => {
    const texts = [
      [`let x = ${day} + 7`, "Operator '+' does not apply to Date and int. Use a Duration, such as Duration.days(7)."],
      [
        `let x = ${day} < "2024-01-01"`,
        'Operator \'<\' cannot compare Date with str. Convert the text: Date("2024-05-31").',
      ],
      [
        `let x = ${day} < ${noon}`,
        "Operator '<' cannot compare Date with DateTime. Use .date() of the DateTime, or .at(0) of the Date.",
      ],
      ['let x: Date = "2024-01-01"', 'Expected Date, found str. Convert the text: Date("2024-05-31").'],
      [`let x = ${day}.format("%Y-%H")`, 'format() needs the fields %Y %m %d %j %u %a %A %b %B %G %V, found %H.'],
      [`let x = ${day}.start_of("hour")`, "start_of() needs week, month, quarter, year, found 'hour'."],
      ['let x = Duration(5)', 'Duration() needs a str, found int.'],
      ['let x: Datetime = 1', "Unknown type 'Datetime'. Did you mean 'DateTime'?"],
    ] as const
    for (const [body, text] of texts) assert.deepEqual(mistakes(`fn f() { ${body} }\n`), [text])
  })

  it('give way to declared types of the same names', () => {
    const source = `type Date { y: int }
type Kind = | Duration(n: int) | DateTime
fn f() to (Date, Kind, Kind) { return (Date { y: 1 }, Duration(2), DateTime) }
`
    assert.deepEqual(result(source), [{y: 1}, {_tag: 'Duration', n: 2}, {_tag: 'DateTime'}])
  })

  it('are constants and are formatted as they are', () => {
    const source = 'const start = Date("2024-01-01")\n\nfn f() to Date { return start }\n'
    assert.equal(result(source), '2024-01-01')
    assert.equal(formatSource(source), source)
  })
})

const events = `type Span { from: Date, length: Duration }
@table type Event {
    name: str
    day: Date
    at: DateTime = now()
    length: Duration = Duration("PT1H")
    ended: Option[DateTime]
    span: Option[Span]
    breaks: List[Duration] = []
}
@index Event.by_at on (at)
@endpoint(kind: mutation)
fn add(name: str, day: Date, at: DateTime, length: Duration, breaks: List[Duration] = []) to Id[Event] {
    return db.Event.insert({ name, day, at, length, breaks, span: { from: day, length } })
}
@endpoint(kind: query)
fn between(from: Date, until: Date) to List[str] {
    return db.Event.where({ day: { between: [from, until] } }).order_by(length).map(event => event.name)
}
@endpoint(kind: query)
fn later(than: Option[DateTime]) to List[str] {
    return db.Event.where(maybe({ at: { gt: than } })).order_by(at, desc).map(event => event.name)
}
@endpoint(kind: query)
fn lengths(some: List[Duration]) to List[str] {
    return db.Event.where({ length: { in: some } }).order_by(name).map(event => event.name)
}
@endpoint(kind: query)
fn broken(by: Duration) to List[Event] { return db.Event.where({ breaks: { contains: by } }) }
@endpoint(kind: query)
fn totals() to (Duration, Option[Duration], Option[Duration], Option[DateTime]) {
    return (db.Event.sum(length), db.Event.avg(length), db.Event.max(length), db.Event.min(at))
}
@endpoint(kind: query)
fn days() to List[Date] { return db.Event.group_by(day).aggregate({ n: count() }).map(group => group.day) }
@endpoint(kind: query)
fn paged(after: Option[str]) to Page[Event] { return db.Event.order_by(length, desc).page(2, after) }
@endpoint(kind: mutation)
fn longer(by: Duration) to int { return db.Event.all().update({ length: { increment: by }, ended: Some(DateTime("2025-01-01T00:00Z")) }) }
`

describe('columns of dates, times and durations', () => {
  it('are filtered, ordered, grouped, totalled and changed by SQL', async (t) => {
    const path = await database(t, events)
    const app = await Application.open(program(events), {path})
    t.after(() => app.close())
    const call = async (name: string, ...args: unknown[]) => {
      const target = app.program.functions.find((made) => made.name === name) as FunctionType
      return toJson((await app.call(target, args)).value)
    }
    await call('add', 'a', '2024-01-31', '2024-01-31T09:00:00.000Z', 'P1D', ['PT5M'])
    await call('add', 'b', '2024-02-29', '2024-02-01T10:00:00.000Z', 'PT2H', ['PT10M'])
    await call('add', 'c', '2024-02-29', '2023-12-31T23:59:59.999Z', 'PT30M')
    assert.deepEqual(await call('between', '2024-02-01', '2024-02-29'), ['c', 'b'])
    assert.deepEqual(await call('later', '2024-01-01T00:00:00.000Z'), ['b', 'a'])
    assert.deepEqual(await call('later', null), ['b', 'a', 'c'])
    assert.deepEqual(await call('lengths', ['P1D', 'PT30M']), ['a', 'c'])
    assert.deepEqual(await call('totals'), ['P1DT2H30M', 'PT8H50M', 'P1D', '2023-12-31T23:59:59.999Z'])
    assert.deepEqual(await call('days'), ['2024-01-31', '2024-02-29'])
    const [broken] = (await call('broken', 'PT10M')) as {name: string; span: object; breaks: string[]}[]
    assert.deepEqual(
      [broken?.name, broken?.span, broken?.breaks],
      ['b', {from: '2024-02-29', length: 'PT2H'}, ['PT10M']],
    )
    const first = (await call('paged', null)) as {items: {name: string}[]; next: string}
    const second = (await call('paged', first.next)) as {items: {name: string}[]; next: string | null}
    assert.deepEqual(
      [...first.items, ...second.items].map(({name}) => name),
      ['a', 'b', 'c'],
    )
    assert.equal(await call('longer', '-PT15M'), 3)
    assert.deepEqual(values(path, 'SELECT length FROM event ORDER BY _id'), [85_500_000, 6_300_000, 900_000])
    assert.deepEqual(values(path, 'SELECT DISTINCT ended FROM event'), ['2025-01-01T00:00:00.000Z'])
    assert.deepEqual(values(path, 'SELECT typeof(at) FROM event LIMIT 1'), ['text'])
  })

  it('are selected and ordered as a direct evaluation does', async () => {
    const random = seeded(67)
    const pools = {
      day: ['0001-01-01', '2024-01-31', '2024-02-01', '2024-02-29', '9999-12-31'],
      at: ['1969-12-31T23:59:59.999Z', '2024-01-31T09:00:00.000Z', '2024-01-31T09:00:00.001Z', null],
      span: ['-P1D', 'PT0S', 'PT0.001S', 'PT9S', 'PT10S', 'P1D', 'PT23H', 'P1DT1H'],
    }
    const types = {day: 'Date', at: 'DateTime', span: 'Duration'}
    const milliseconds: Record<string, number> = {
      ...{'-P1D': -86_400_000, PT0S: 0, 'PT0.001S': 1, PT9S: 9000, PT10S: 10_000},
      ...{P1D: 86_400_000, PT23H: 82_800_000, P1DT1H: 90_000_000},
    }
    type Column = keyof typeof pools
    const key = (column: Column, of: string | null) => (column === 'span' ? milliseconds[of ?? ''] : of)
    const rows = Array.from({length: 40}, () => ({
      day: random.pick(pools.day),
      at: random.pick(pools.at),
      span: random.pick(pools.span),
    }))
    const operators = ['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in', 'between'] as const
    const tests = Array.from({length: 120}, () => {
      const column = random.pick(Object.keys(pools) as Column[])
      const some = () => random.pick((pools[column] as (string | null)[]).flatMap((each) => each ?? []))
      const [operator, a, b] = [random.pick(operators), some(), some()]
      const literal = (of: string) => `${types[column]}("${of}")`
      const operand = operator === 'in' || operator === 'between' ? `[${literal(a)}, ${literal(b)}]` : literal(a)
      const direction = random.pick(['asc', 'desc'])
      return {column, operator, a, b, direction, text: `{ ${column}: { ${operator}: ${operand} } }`}
    })
    const checked = program(`@table type Event { day: Date, at: Option[DateTime], span: Duration }
@endpoint(kind: mutation) fn add(day: Date, at: Option[DateTime], span: Duration) to Id[Event] { db.Event.insert({ day, at, span }) }
${tests.map(({text, column, direction}, i) => `@endpoint(kind: query) fn q${i}() to List[Event] { db.Event.where(${text}).order_by(${column}, ${direction}) }`).join('\n')}
`)
    const app = await Application.open(checked, {path: ':memory:'})
    const call = async (name: string, ...args: unknown[]) => {
      const target = app.program.functions.find((made) => made.name === name) as FunctionType
      return toJson((await app.call(target, args)).value)
    }
    try {
      for (const {day, at, span} of rows) await call('add', day, at, span)
      for (const [i, {column, operator, a, b, direction, text}] of tests.entries()) {
        const holds = (row: (typeof rows)[number]) => {
          const [value, x, y] = [key(column, row[column]), key(column, a) ?? '', key(column, b) ?? '']
          if (operator === 'neq') return value !== x
          if (value === null || value === undefined) return false
          if (operator === 'eq') return value === x
          if (operator === 'in') return value === x || value === y
          if (operator === 'between') return value >= x && value <= y
          return {lt: value < x, lte: value <= x, gt: value > x, gte: value >= x}[operator]
        }
        const compare = (m: (typeof rows)[number], n: (typeof rows)[number]) => {
          const [x, y] = [key(column, m[column]) ?? '', key(column, n[column]) ?? '']
          return x < y ? -1 : x > y ? 1 : 0
        }
        const found = rows.map((row, at_) => ({...row, _id: at_ + 1})).filter(holds)
        const sorted = found.sort((m, n) => (direction === 'asc' ? 1 : -1) * compare(m, n) || m._id - n._id)
        const ids = ((await call(`q${i}`)) as {_id: number}[]).map(({_id}) => _id)
        assert.deepEqual(
          ids,
          sorted.map(({_id}) => _id),
          `${text} ${direction}`,
        )
      }
    } finally {
      app.close()
    }
  })

  it('are described to clients', () => {
    const checked = program(events)
    const {paths} = openapi(checked, {title: 'x', version: '1'}) as {
      paths: Record<string, Record<string, {parameters: object[]}>>
    }
    const text = JSON.stringify(paths['/api/query/between']?.get?.parameters)
    assert.match(text, /"format":"date"/)
    assert.match(clientFile(checked), /between\(args: \{ from: string; until: string \}/)
    assert.match(schemasFile(checked), /at: z\.string\(\)\.datetime\(\)/)
  })

  it('are made of text where every text has the form, and of text again', async (t) => {
    const before = '@table type Task { due: str, note: Option[str] }\n'
    const after = before.replace('due: str', 'due: Date')
    const path = await database(t, before, "INSERT INTO task (due) VALUES ('2024-01-31'), ('2024-02-29')")
    await migrated(path, after, decide({rebuilds: ['Task']}))
    await migrated(path, before)
    assert.deepEqual(values(path, 'SELECT due FROM task'), ['2024-01-31', '2024-02-29'])
    const texts = await database(t, before, "INSERT INTO task (due) VALUES ('2024-01-31T10:00+01:00')")
    await migrated(texts, before.replace('due: str', 'due: DateTime'), decide({rebuilds: ['Task']}))
    assert.deepEqual(values(texts, 'SELECT due FROM task'), ['2024-01-31T09:00:00.000Z'])
    const wrong = await database(t, before, "INSERT INTO task (due) VALUES ('2024-01-31'), ('soon')")
    await refused(wrong, after, decide({rebuilds: ['Task']}), 'migration_failed', /1 value of due cannot be converted/)
  })

  it('are made of numbers by an expression', async (t) => {
    const before = '@table type Task { at: int, ms: int }\n'
    const path = await database(t, before, 'INSERT INTO task (at, ms) VALUES (0, 1500)')
    const after = '@table type Task { at: DateTime, ms: Duration }\n'
    await refused(path, after, decide({rebuilds: ['Task']}), 'migration_failed', /cannot be converted/)
    const usings = ['Task.at=DateTime(old.at)', 'Task.ms=Duration.milliseconds(old.ms)']
    await migrated(path, after, decide({rebuilds: ['Task'], usings}))
    assert.deepEqual(values(path, 'SELECT at FROM task'), ['1970-01-01T00:00:00.000Z'])
    await migrated(path, after.replace('Duration', 'str'), decide({rebuilds: ['Task']}))
    assert.deepEqual(values(path, 'SELECT ms FROM task'), ['PT1.5S'])
    await migrated(path, after, decide({rebuilds: ['Task']}))
    assert.deepEqual(values(path, 'SELECT ms FROM task'), [1500])
  })

  it('get a default, or the value that is chosen', async (t) => {
    const path = await database(t, '@table type Task { title: str }\n', "INSERT INTO task (title) VALUES ('a')")
    const columns = 'due: Date = Date("2024-05-31"), spent: Duration = Duration("PT1H")'
    await migrated(path, `@table type Task { title: str, ${columns} }\n`)
    assert.deepEqual(values(path, 'SELECT due FROM task'), ['2024-05-31'])
    assert.deepEqual(values(path, 'SELECT spent FROM task'), [3_600_000])
  })
})
