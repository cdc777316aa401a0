/** Random conditions on the rows of a table, and the rows that a direct comparison matches. */
import assert from 'node:assert/strict'
import {Application, checkProgram, ddl, type FunctionType, type Program} from '../../src/lang/index.js'
import {type Random, seeded} from '../support/random.js'

// The table and its values

export interface Row {
  _id: number
  n: number
  m: number | null
  f: number
  g: number | null
  s: string
  o: string | null
  b: boolean
  c: boolean | null
  tags: string[]
  sizes: number[]
  maybe: string[] | null
  other: number
}

export type ColumnName = keyof Row
type Kind = 'int' | 'float' | 'str' | 'bool' | 'Id[Other]' | 'Id[Thing]' | 'List[str]' | 'List[int]'
export type Scalar = number | string | boolean

export interface Column {
  name: ColumnName
  kind: Kind
  nullable: boolean
}

const column = (name: ColumnName, kind: Kind, nullable = false): Column => ({name, kind, nullable})

export const columns: readonly Column[] = [
  column('_id', 'Id[Thing]'),
  column('n', 'int'),
  column('m', 'int', true),
  column('f', 'float'),
  column('g', 'float', true),
  column('s', 'str'),
  column('o', 'str', true),
  column('b', 'bool'),
  column('c', 'bool', true),
  column('tags', 'List[str]'),
  column('sizes', 'List[int]'),
  column('maybe', 'List[str]', true),
  column('other', 'Id[Other]'),
]

export const typeOf = ({kind, nullable}: Column) => (nullable ? `Option[${kind}]` : kind)
const stored = columns.slice(1)
export const schema = `@table type Other { name: str }
@table type Thing {
${stored.map((each) => `    ${each.name}: ${typeOf(each)}`).join('\n')}
}
@endpoint(kind: mutation)
fn add_other(name: str) to Id[Other] { return db.Other.insert({ name: name }) }
@endpoint(kind: mutation)
fn add(${stored.map((each) => `${each.name}: ${typeOf(each)}`).join(', ')}) to Id[Thing] {
    return db.Thing.insert({ ${stored.map(({name}) => `${name}: ${name}`).join(', ')} })
}
`

/** Few values, so that they often coincide. */
const ints = [0, 1, -1, 2, 3, 7, 100, -100, 2 ** 31, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]
const floats = [0, 1, -1, 2, 0.1, 0.2, 0.30000000000000004, -2.5, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 123.456]
const strings = [
  '',
  'a',
  'A',
  'ab',
  'aB',
  'b',
  'Äpfel',
  'äpfel',
  'ÄPFEL',
  'straße',
  'STRASSE',
  '%',
  '_',
  '\\',
  '100%',
  '100',
  'a_b',
  'a%b',
  'a\\b',
  'a\\%b',
  '\\_',
  "it's",
  'say "hi"',
  "'; DROP TABLE thing; --",
  'line\nbreak\ttab\r',
  ' ',
  'İstanbul',
  'ı',
  '\u212a',
  'k',
  'K',
  '日本語',
  '本',
  '👩\u200d💻',
  '💻',
  'e\u0301',
  'é',
  '\uffff',
  '\u{10000}',
  '[a-z]*?',
  'null',
  '1',
  'true',
]

/** Search strings are often substrings of stored values in a different case. */
const needle = (random: Random): string => {
  const points = [...random.pick(strings)]
  const from = random.below(points.length + 1)
  const part = points.slice(from, from + 1 + random.below(4)).join('')
  return random.chance(0.3) ? part.toUpperCase() : random.chance(0.3) ? part.toLowerCase() : part
}

/** The names of the rows that `other` refers to. */
export const otherNames = ['', 'a', 'A', 'Äpfel', '100%']
const otherCount = otherNames.length
export const rowCount = 40
/** Doubles with all digits; some of them are in the table. */
export const preciseFloats = (random: Random) =>
  Array.from({length: 12}, () => (random.next() - 0.5) * 10 ** random.below(12))

function scalar(kind: Kind, random: Random, precise: readonly number[]): Scalar {
  switch (kind) {
    case 'int':
      return random.pick(ints)
    case 'float':
      return random.chance(0.5) ? random.pick(floats) : random.pick(precise)
    case 'bool':
      return random.chance(0.5)
    case 'Id[Other]':
      return 1 + random.below(otherCount)
    case 'Id[Thing]':
      return 1 + random.below(rowCount + 2)
    default:
      return random.pick(strings)
  }
}

const several = <T>(random: Random, most: number, make: () => T): T[] =>
  Array.from({length: random.below(most + 1)}, make)

/** One to three different columns. */
const distinctColumns = (random: Random): Column[] => [
  ...new Set([random.pick(columns), ...several(random, 2, () => random.pick(columns))]),
]

export function randomRows(random: Random, precise: readonly number[]): Row[] {
  const value = <T>(kind: Kind) => scalar(kind, random, precise) as T
  const orNull = <T>(make: () => T): T | null => (random.chance(0.35) ? null : make())
  return Array.from({length: rowCount}, (_, i) => ({
    _id: i + 1,
    n: value('int'),
    m: orNull(() => value<number>('int')),
    f: value('float'),
    g: orNull(() => value<number>('float')),
    s: value('str'),
    o: orNull(() => value<string>('str')),
    b: value('bool'),
    c: orNull(() => value<boolean>('bool')),
    tags: several(random, 3, () => value<string>('str')),
    sizes: several(random, 3, () => value<number>('int')),
    maybe: orNull(() => several(random, 3, () => value<string>('str'))),
    other: value('Id[Other]'),
  }))
}

// The source of conditions

type Operator = 'eq' | 'neq' | 'lt' | 'lte' | 'gt' | 'gte' | 'between' | 'in' | 'contains' | 'starts_with' | 'is_null'

/** A value and its source form: a literal or a parameter name. */
interface Written<V> {
  value: V
  text: string
}

interface Test {
  operator: Operator
  operand: Written<Scalar | null | readonly Scalar[]>
}

type Entry =
  | {kind: 'and' | 'or'; parts: Conditions[]}
  | {kind: 'not'; part: Conditions}
  | {kind: 'column'; column: Column; tests: Test[]; short: boolean}
  /** Conditions whose value may be None; the only entry of its object. */
  | {kind: 'maybe'; parts: {column: Column; test: Test}[]}
  /** Conditions on the row that `other` refers to. */
  | {kind: 'refers'; tests: Test[]}

/** An object of conditions: its entries are joined by AND. */
export type Conditions = Entry[]

export interface Parameter {
  type: string
  value: Scalar | null | readonly Scalar[]
}

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\t': '\\t',
  '\r': '\\r',
  '\0': '\\0',
}
const stringLiteral = (text: string) => `"${text.replace(/[\\"\n\t\r\0]/g, (c) => escapes[c] ?? c)}"`

/** The literal of a value, if the language has one (it has no exponents). */
function literal(value: Scalar | null): string | undefined {
  if (value === null) return 'None'
  if (typeof value === 'string') return stringLiteral(value)
  const text = String(value)
  return typeof value === 'number' && !/^-?\d+(\.\d+)?$/.test(text) ? undefined : text
}

export class Generator {
  readonly params: Parameter[] = []
  readonly #random: Random
  readonly #precise: readonly number[]

  constructor(random: Random, precise: readonly number[]) {
    this.#random = random
    this.#precise = precise
  }

  conditions(depth: number): Conditions {
    const random = this.#random
    const count = random.chance(0.05) ? 0 : 1 + random.below(random.chance(0.3) ? 4 : 2)
    const names = new Set<string>()
    return Array.from({length: count}, () => this.#entry(depth)).filter((entry) => {
      const name = entry.kind === 'column' ? entry.column.name : entry.kind === 'refers' ? 'other' : entry.kind
      if (names.has(name)) return false
      names.add(name)
      return true
    })
  }

  /** Conditions that need no object literal. */
  part(depth: number): Conditions {
    return this.#random.chance(0.15) ? [this.#maybe()] : this.conditions(depth)
  }

  #maybe(): Entry {
    const random = this.#random
    const parts = distinctColumns(random).map((column) => {
      const isList = column.kind.startsWith('List')
      const operator = random.pick(this.#operators(column, isList).filter((each) => each !== 'between'))
      const {value} = this.#operand(column, operator)
      const type =
        operator === 'is_null'
          ? 'bool'
          : operator === 'in'
            ? `List[${column.kind}]`
            : isList
              ? column.kind.slice(5, -1)
              : column.kind
      const test = {operator, operand: this.#parameter(`Option[${type}]`, random.chance(0.4) ? null : value)}
      return {column, test}
    })
    return {kind: 'maybe', parts}
  }

  #refers(): Entry {
    const name = column('s', 'str')
    const operator = this.#random.pick(['eq', 'neq', 'in', 'starts_with', 'contains'] as const)
    return {kind: 'refers', tests: [{operator, operand: this.#operand(name, operator)}]}
  }

  #entry(depth: number): Entry {
    const random = this.#random
    if (random.chance(0.08)) return this.#refers()
    if (depth === 0 || random.chance(0.45)) return this.#column()
    if (random.chance(0.3)) return {kind: 'not', part: this.conditions(depth - 1)}
    const parts = several(random, random.chance(0.1) ? 8 : 3, () => this.part(depth - 1))
    return {kind: random.chance(0.5) ? 'and' : 'or', parts}
  }

  #column(): Entry {
    const random = this.#random
    const chosen = random.pick(columns)
    const isList = chosen.kind.startsWith('List')
    if (!isList && random.chance(0.2))
      return {kind: 'column', column: chosen, tests: [{operator: 'eq', operand: this.#slot(chosen)}], short: true}
    const operators = this.#operators(chosen, isList)
    const tests = new Map<Operator, Test>()
    for (let i = random.chance(0.25) ? 3 : 1; i > 0; i--) {
      const operator = random.pick(operators)
      tests.set(operator, {operator, operand: this.#operand(chosen, operator)})
    }
    return {kind: 'column', column: chosen, tests: [...tests.values()], short: false}
  }

  #operators({kind}: Column, isList: boolean): readonly Operator[] {
    if (isList) return ['contains', 'contains', 'is_null']
    if (kind === 'bool') return ['eq', 'neq', 'in', 'is_null']
    const ordered: readonly Operator[] = ['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'between', 'in', 'in', 'is_null']
    return kind === 'str' ? [...ordered, 'contains', 'contains', 'contains', 'starts_with', 'starts_with'] : ordered
  }

  #operand(chosen: Column, operator: Operator): Test['operand'] {
    const random = this.#random
    const {kind} = chosen
    switch (operator) {
      case 'eq':
      case 'neq':
        return this.#slot(chosen)
      case 'is_null':
        return this.#written('bool', random.chance(0.5))
      case 'starts_with':
        return this.#written('str', needle(random))
      case 'between': {
        const limits = [this.#written(kind, this.#value(kind)), this.#written(kind, this.#value(kind))]
        return {value: limits.map(({value}) => value), text: `[${limits.map(({text}) => text).join(', ')}]`}
      }
      case 'contains':
        if (kind === 'str') return this.#written('str', needle(random))
        return this.#written(kind.slice(5, -1), this.#value(kind === 'List[int]' ? 'int' : 'str'))
      case 'in': {
        if (random.chance(0.5)) {
          const values = several(random, 5, () => this.#value(kind))
          return this.#parameter(`List[${kind}]`, values)
        }
        const items = [this.#value(kind), ...several(random, 4, () => this.#value(kind))]
        const written = items.map((item) => this.#written(kind, item))
        return {value: items, text: `[${written.map(({text}) => text).join(', ')}]`}
      }
      default:
        return this.#written(kind, this.#value(kind))
    }
  }

  #value(kind: Kind): Scalar {
    return scalar(kind, this.#random, this.#precise)
  }

  /** The value of `eq` and `neq`: can be None if the column is nullable. */
  #slot(chosen: Column): Written<Scalar | null> {
    const isNone = chosen.nullable && this.#random.chance(0.3)
    const value = isNone ? null : this.#value(chosen.kind)
    return this.#written(chosen.nullable && this.#random.chance(0.7) ? typeOf(chosen) : chosen.kind, value)
  }

  #written<V extends Scalar | null>(type: string, value: V): Written<V> {
    const text = literal(value)
    if (text !== undefined && this.#random.chance(0.6)) return {value, text}
    return this.#parameter(value === null && !type.startsWith('Option') ? `Option[${type}]` : type, value)
  }

  #parameter<V extends Parameter['value']>(type: string, value: V): Written<V> {
    return {value, text: `p${this.params.push({type, value}) - 1}`}
  }
}

export function writeConditions(conditions: Conditions): string {
  const [first] = conditions
  const text = `{ ${conditions.map(writeEntry).join(', ')} }`
  return first?.kind === 'maybe' ? `maybe(${text})` : text
}

const writeTests = (tests: readonly Test[]) =>
  tests.map(({operator, operand}) => `${operator}: ${operand.text}`).join(', ')

function writeEntry(entry: Entry): string {
  switch (entry.kind) {
    case 'and':
    case 'or':
      return `${entry.kind}: [${entry.parts.map(writeConditions).join(', ')}]`
    case 'not':
      return `not: ${writeConditions(entry.part)}`
    case 'column': {
      const {column: of, tests, short} = entry
      if (short) return `${of.name}: ${tests[0]?.operand.text}`
      return `${of.name}: { ${writeTests(tests)} }`
    }
    case 'maybe':
      return entry.parts.map(({column: of, test}) => `${of.name}: { ${writeTests([test])} }`).join(', ')
    case 'refers':
      return `other: { name: { ${writeTests(entry.tests)} } }`
  }
}

// The semantics of conditions

export const holdsAll = (conditions: Conditions, row: Row): boolean =>
  conditions.every((entry) => holdsEntry(entry, row))

/** Two-valued logic: a comparison with NULL is false, and its `not` is true. */
function holdsEntry(entry: Entry, row: Row): boolean {
  switch (entry.kind) {
    case 'and':
      return entry.parts.every((part) => holdsAll(part, row))
    case 'or':
      return entry.parts.some((part) => holdsAll(part, row))
    case 'not':
      return !holdsAll(entry.part, row)
    case 'column':
      return entry.tests.every((test) => holdsTest(test, row[entry.column.name]))
    case 'maybe':
      return entry.parts.every(({column: {name}, test}) => test.operand.value === null || holdsTest(test, row[name]))
    case 'refers':
      return entry.tests.every((test) => holdsTest(test, otherNames[row.other - 1] ?? null))
  }
}

/** Text is ordered by its bytes. */
export const order = (a: Scalar, b: Scalar): number =>
  typeof a === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(String(b))) : Number(a) - Number(b)
/** Case-insensitive for ASCII letters only. */
const folded = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

function holdsTest({operator, operand: {value}}: Test, held: Row[ColumnName]): boolean {
  switch (operator) {
    case 'eq':
      return held === value
    case 'neq':
      return held !== value
    case 'is_null':
      return (held === null) === value
  }
  if (held === null) return false
  if (Array.isArray(held)) return (held as readonly Scalar[]).includes(value as Scalar)
  const scalarHeld = held as Scalar
  switch (operator) {
    case 'in':
      return (value as readonly Scalar[]).includes(scalarHeld)
    case 'starts_with':
      return String(scalarHeld).startsWith(String(value))
    case 'between': {
      const [least, most] = value as readonly Scalar[]
      return order(scalarHeld, least as Scalar) >= 0 && order(scalarHeld, most as Scalar) <= 0
    }
    case 'contains':
      return folded(String(scalarHeld)).includes(folded(String(value)))
    case 'lt':
      return order(scalarHeld, value as Scalar) < 0
    case 'lte':
      return order(scalarHeld, value as Scalar) <= 0
    case 'gt':
      return order(scalarHeld, value as Scalar) > 0
    case 'gte':
      return order(scalarHeld, value as Scalar) >= 0
  }
}

// Programs with many conditions, and their results

interface Question {
  name: string
  text: string
  conditions: Conditions
  args: Parameter['value'][]
}

function question(i: number, random: Random, precise: readonly number[]): Question {
  const generator = new Generator(random, precise)
  const conditions = generator.part(random.below(5))
  const {params} = generator
  const list = params.map(({type}, at) => `p${at}: ${type}`).join(', ')
  const where = writeConditions(conditions)
  const text = `@endpoint(kind: query)
fn q${i}(${list}) to List[Thing] { return db.Thing.where(${where}) }
@endpoint(kind: query)
fn c${i}(${list}) to int { return db.Thing.where(${where}).count() }
@endpoint(kind: query)
fn e${i}(${list}) to bool { return db.Thing.where(${where}).exists() }
`
  return {name: `${i}`, text, conditions, args: params.map(({value}) => value)}
}

export const functionOf = (program: Program, name: string): FunctionType => {
  const found = program.functions.find((each) => each.name === name)
  assert.ok(found, name)
  return found
}

export async function opened(program: Program): Promise<Application> {
  const application = await Application.open(program, {path: ':memory:'})
  for (const statement of ddl(program)) application.writer.database.exec(statement)
  return application
}

export async function filled(program: Program, rows: readonly Row[]): Promise<Application> {
  const application = await opened(program)
  const add = functionOf(program, 'add')
  const addOther = functionOf(program, 'add_other')
  for (const name of otherNames) await application.call(addOther, [name])
  for (const row of rows)
    assert.deepEqual(
      await application.call(
        add,
        stored.map(({name}) => row[name]),
      ),
      {kind: 'value', value: row._id, retrieval: undefined},
    )
  return application
}

/** Conditions per table. */
export const conditionsPerTable = 250

/** Runs many conditions on one table; each result must equal that of a direct comparison. */
export async function compareConditions(seed: number): Promise<void> {
  const random = seeded(seed)
  const precise = preciseFloats(random)
  const rows = randomRows(random, precise)
  const questions = Array.from({length: conditionsPerTable}, (_, i) => question(i, random, precise))
  const program = checkProgram(schema + questions.map(({text}) => text).join(''))
  const errors = program.diagnostics.filter(({severity}) => severity === 'error')
  assert.deepEqual(
    errors.map(({message, start}) => `${message} ${program.source.slice(start - 40, start + 40)}`),
    [],
  )
  const application = await filled(program, rows)
  try {
    for (const {name, text, conditions, args} of questions) {
      const about = `seed ${seed}\n${text}${JSON.stringify(args)}`
      const expected = rows.filter((row) => holdsAll(conditions, row))
      const {value} = await application.call(functionOf(program, `q${name}`), args)
      const found = value as Row[]
      const ids = (of: readonly Row[]) => of.map(({_id}) => _id).sort((a, b) => a - b)
      assert.deepEqual(ids(found), ids(expected), about)
      for (const row of found) assert.deepEqual({...row}, rows[row._id - 1], about)
      const counted = await application.call(functionOf(program, `c${name}`), args)
      assert.equal(counted.value, expected.length, about)
      const some = await application.call(functionOf(program, `e${name}`), args)
      assert.equal(some.value, expected.length > 0, about)
    }
  } finally {
    application.close()
  }
}
