/** Random totals, groups, pages and included rows, and the results of a plain evaluation. */
import assert from 'node:assert/strict'
import {checkProgram} from '../../src/lang/index.js'
import {type Random, seeded} from '../support/random.js'
import {
  type Column,
  type Conditions,
  columns,
  filled,
  functionOf,
  Generator,
  holdsAll,
  order,
  otherNames,
  type Parameter,
  preciseFloats,
  type Row,
  randomRows,
  rowCount,
  type Scalar,
  schema,
  writeConditions,
} from './random-conditions.js'

type Field = Scalar | null
type Result = Record<string, unknown>

/** A query: its source after the condition, its result, and what the evaluation expects. */
interface Shape {
  type: string
  text: string
  params?: string
  expected(rows: readonly Row[]): unknown
  /** Runs the query, if that takes more than one call. */
  run?(call: (args: readonly unknown[]) => Promise<unknown>): Promise<unknown>
}

const scalars = columns.filter(({kind}) => !kind.startsWith('List'))
const someOf = <T>(random: Random, items: readonly T[], most: number): T[] => [
  ...new Set(Array.from({length: 1 + random.below(most)}, () => random.pick(items))),
]

/** NULL is less than every value. */
function compare(a: unknown, b: unknown): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1
  return order(a as Scalar, b as Scalar)
}

type Key = readonly [name: string, isDescending: boolean]

const sorted = <R extends object>(rows: readonly R[], keys: readonly Key[]): R[] =>
  [...rows].sort((a, b) => {
    for (const [name, isDescending] of keys) {
      const found = compare((a as Result)[name], (b as Result)[name])
      if (found !== 0) return isDescending ? -found : found
    }
    return 0
  })

const orderText = (keys: readonly Key[]) =>
  keys.map(([name, isDescending]) => `.order_by(${name}, ${isDescending ? 'desc' : 'asc'})`).join('')

// Totals

interface Total {
  fn: 'count' | 'sum' | 'avg' | 'min' | 'max'
  column: Column | undefined
}

const overflow = Symbol('overflow')

function evaluate({fn, column}: Total, rows: readonly Row[]): unknown {
  if (column === undefined) return rows.length
  const values = rows.map((row) => row[column.name] as Field).filter((value) => value !== null)
  if (fn === 'count') return values.length
  if (fn === 'min' || fn === 'max') {
    const ordered = values.sort(compare)
    return (fn === 'min' ? ordered[0] : ordered.at(-1)) ?? null
  }
  const sum = values.reduce((total, value) => total + BigInt(value as number), 0n)
  if (fn === 'avg') return values.length === 0 ? null : Number(sum) / values.length
  return Number.isSafeInteger(Number(sum)) ? Number(sum) : overflow
}

function randomTotal(random: Random): Total {
  const fn = random.pick(['count', 'count', 'sum', 'avg', 'min', 'max'] as const)
  if (fn === 'count') return {fn, column: random.chance(0.5) ? undefined : random.pick(columns)}
  const suitable = fn === 'sum' || fn === 'avg' ? scalars.filter(({kind}) => kind === 'int') : scalars
  return {fn, column: random.pick(suitable)}
}

const totalText = ({fn, column}: Total) => `${fn}(${column?.name ?? ''})`

function typeOfTotal({fn, column}: Total): string {
  if (fn === 'count') return 'int'
  if (fn === 'sum') return 'int'
  return fn === 'avg' ? 'Option[float]' : `Option[${column?.kind}]`
}

function totalShape(random: Random): Shape {
  let total = randomTotal(random)
  while (total.fn === 'count') total = randomTotal(random)
  return {
    type: typeOfTotal(total),
    text: `.${totalText(total)}`,
    expected: (rows) => evaluate(total, rows),
  }
}

// Groups

function groupShape(random: Random, name: string): Shape & {declaration: string} {
  const by = someOf(
    random,
    scalars.filter((each) => each.name !== '_id'),
    2,
  )
  const totals = [{fn: 'count', column: undefined} as Total, randomTotal(random)]
  const least = random.below(4)
  const hasCondition = random.chance(0.5)
  const keys: Key[] = random.chance(0.5)
    ? someOf(random, ['t0', ...by.map((each) => each.name)], 2).map((key) => [key, random.chance(0.5)])
    : []
  const limit = random.chance(0.3) ? 1 + random.below(5) : undefined
  const offset = random.chance(0.3) ? random.below(4) : 0
  const fields = [...by.map(({name: field, kind, nullable}) => `${field}: ${nullable ? `Option[${kind}]` : kind}`)]
  return {
    declaration: `type ${name} { ${[...fields, ...totals.map((total, i) => `t${i}: ${typeOfTotal(total)}`)].join(', ')} }\n`,
    type: `List[${name}]`,
    text: `.group_by(${by.map((each) => each.name).join(', ')}).aggregate({ ${totals.map((total, i) => `t${i}: ${totalText(total)}`).join(', ')} })${
      hasCondition ? `.having({ t0: { gt: ${least} } })` : ''
    }${orderText(keys)}${limit === undefined ? '' : `.limit(${limit})`}${offset === 0 ? '' : `.offset(${offset})`}`,
    expected(rows) {
      const groups = new Map<string, Row[]>()
      for (const row of rows) {
        const key = JSON.stringify(by.map((each) => row[each.name]))
        groups.set(key, [...(groups.get(key) ?? []), row])
      }
      const results = [...groups.values()].map(
        (group): Result => ({
          ...Object.fromEntries(by.map((each) => [each.name, group[0]?.[each.name]])),
          ...Object.fromEntries(totals.map((total, i) => [`t${i}`, evaluate(total, group)])),
        }),
      )
      const kept = results.filter(({t0}) => !hasCondition || Number(t0) > least)
      const ordered = sorted(kept, [...keys, ...by.map((each): Key => [each.name, false])])
      const shown = ordered.slice(offset, limit === undefined ? undefined : offset + limit)
      return shown.some(({t1}) => t1 === overflow) ? overflow : shown
    },
  }
}

function distinctShape(random: Random): Shape {
  const column = random.pick(scalars)
  return {
    type: `List[${column.nullable ? `Option[${column.kind}]` : column.kind}]`,
    text: `.distinct(${column.name})`,
    expected: (rows) => [...new Set(rows.map((row) => row[column.name] as Field))].sort(compare),
  }
}

// Pages and included rows

function pageShape(random: Random): Shape {
  const keys = someOf(random, scalars, 3).map(({name}): Key => [name, random.chance(0.5)])
  const size = 1 + random.below(9)
  return {
    type: 'Page[Thing]',
    params: 'after: Option[str]',
    text: `${orderText(keys)}.page(${size}, after)`,
    expected: (rows) => sorted(rows, [...keys, ['_id', false]]),
    async run(call) {
      const all: Row[] = []
      let after: unknown = null
      do {
        const {items, next} = (await call([after])) as {items: Row[]; next: unknown}
        assert.ok(items.length === size || next === null)
        all.push(...items)
        assert.ok(all.length <= rowCount, 'the pages do not end')
        after = next
      } while (after !== null)
      return all
    },
  }
}

const includeShape: Shape = {
  type: 'List[WithOwner]',
  text: '.include({ owner: other }).order_by(_id)',
  expected: (rows) => rows.map((row) => ({...row, owner: {_id: row.other, name: otherNames[row.other - 1]}})),
}

/** Queries per table. */
export const queriesPerTable = 100

interface Question {
  text: string
  shape: Shape
  conditions: Conditions
  args: Parameter['value'][]
}

function question(i: number, random: Random, precise: readonly number[]): Question {
  const generator = new Generator(random, precise)
  const conditions = generator.part(random.below(3))
  const group = groupShape(random, `G${i}`)
  const shape = random.pick([
    group,
    group,
    group,
    totalShape(random),
    distinctShape(random),
    pageShape(random),
    includeShape,
  ])
  const {params} = generator
  const list = [...params.map(({type}, at) => `p${at}: ${type}`), ...(shape.params === undefined ? [] : [shape.params])]
  const text = `${shape === group ? group.declaration : ''}@endpoint(kind: query)
fn q${i}(${list.join(', ')}) to ${shape.type} { return db.Thing.where(${writeConditions(conditions)})${shape.text} }
`
  return {text, shape, conditions, args: params.map(({value}) => value)}
}

const withOwner = `type WithOwner { ${columns.map(({name, kind, nullable}) => `${name}: ${nullable ? `Option[${kind}]` : kind}`).join(', ')}, owner: Option[Other] }
`

/** Runs many queries on one table; each result must equal that of the plain evaluation. */
export async function compareQueries(seed: number): Promise<void> {
  const random = seeded(seed)
  const precise = preciseFloats(random)
  const rows = randomRows(random, precise)
  const questions = Array.from({length: queriesPerTable}, (_, i) => question(i, random, precise))
  const program = checkProgram(schema + withOwner + questions.map(({text}) => text).join(''))
  const errors = program.diagnostics.filter(({severity}) => severity === 'error')
  assert.deepEqual(
    errors.map(({message, start}) => `${message} ${program.source.slice(start - 40, start + 40)}`),
    [],
  )
  const application = await filled(program, rows)
  try {
    for (const [i, {text, shape, conditions, args}] of questions.entries()) {
      const call = async (more: readonly unknown[]) =>
        (await application.call(functionOf(program, `q${i}`), [...args, ...more])).value
      const expected = shape.expected(rows.filter((row) => holdsAll(conditions, row)))
      const about = `seed ${seed}\n${text}${JSON.stringify(args)}`
      if (expected === overflow) await assert.rejects(async () => call([]), {reason: 'INT_OVERFLOW'}, about)
      else assert.deepEqual(plain(await (shape.run ?? ((run) => run([])))(call)), plain(expected), about)
    }
  } finally {
    application.close()
  }
}

/** Objects with the prototype of literals. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (_, each) => each ?? null))
