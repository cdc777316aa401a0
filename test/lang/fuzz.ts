/**
 * Mutation fuzzing of the data language: mutated programs are passed to the lexer, parser, checker, formatter,
 * planner and code generators, which may reject them but must not fail.
 */
import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {
  appContract,
  asJson,
  checkProgram,
  clientFile,
  connect,
  type Diagnostic,
  ddl,
  explain,
  formatSource,
  functionsFile,
  Lines,
  openapi,
  type Program,
  renderDiagnostics,
  runtimeProjection,
  type Span,
  schemaDigest,
  schemasFile,
  typesFile,
} from '../../src/lang/index.js'
import {isWithin, processorTimer} from '../support/processor-time.js'
import {projectFile} from '../support/project.js'
import {type Random, seeded} from '../support/random.js'

// Seed programs

/** Uses every construct at least once, without errors. */
export const everything = `/// A station.
@table type Station { name: str, height: Option[int], open: bool }
@table type Reading {
    station: Id[Station]
    celsius: float
    note: Option[str]
    tags: List[str]
    price: dec
    raw: Option[bytes]
    place: Place
    level: Level
    sizes: Map[str, int]
    kinds: Set[str]
    pair: (int, str)
    vector: List[float]
}
@index Reading.by_station on (station, celsius) unique
@index Station.by_name on (name)
@search_index Station.by_text on (name)
@vector_index Reading.by_vector on (vector) { dimensions: 3 }
type Place { x: float, y: float, name: Option[str] }
pub type Level = | Low | High(by: int, why: Option[str]) | Odd { text: str }

fn grade(of: Level) to str {
    return match of {
        Low => "low"
        High(by, _) if by > 10 => "very high"
        High(by, why) => "high by " + str(by) + why.unwrap_or("")
        Odd(text) => text
    }
}

const most = 100
const labels: List[str] = ["a", "b"]

fn changed(reading: Reading, by: float) to Reading {
    let mut sizes: Map[str, int] = { a: 1 }
    sizes["b" + by] = most
    let celsius = reading.celsius + by
    for (name, size) in sizes.entries() { sizes[name] += size }
    let note = Some(f"{celsius} of {most.abs()}, {{{labels[0]}}}")
    let price = ((reading.price + 1) / 3).round(2, "half_up")
    return { ...reading, celsius, sizes, note, price, kinds: labels.to_set() }
}

fn fold(items: List[int], start: int = 0) to int {
    let mut sum = start
    for item, i in items {
        if item < 0 and not (i is 0) { continue } else if item > 100 or i == 7 { break }
        sum += item * 2 - i % 3
    }
    let mut n = 3
    while n > 0 { n -= 1 }
    loop { break }
    return sum |> fn(x: int) to int x
}

fn lambdas() to List[str] {
    let double = x => x + x
    let (a, b) = (1, "two")
    let kept = [1, 2, 3].map(fn(x: int) to int { return x * a }).filter((x) => x != 2)
    return kept.map(x => str(x) + b)
}

@endpoint(kind: query)
fn search(text: str, least: Option[int], limit: int = 10) to List[Station] {
    return db.Station
        .where({ name: { contains: text }, or: [{ height: { gte: 1, lt: 9000 } }, { not: { open: true } }, { height: None }] })
        .order_by(name, desc)
        .limit(limit)
        .live("stations.all")
}

@endpoint(kind: query)
fn near(vector: List[float], text: str) to List[Reading] {
    return db.Reading.where({ vector: { near: vector }, station: { in: [1, 2] }, tags: { contains: text } })
}

@endpoint(kind: query)
fn found(text: str) to List[Station] { return db.Station.where({ name: { matches: text } }).using(fts).sync() }

@endpoint(kind: query)
fn names(ids: List[int]) to Map[str, int] {
    let stations = db.Station.where({ _id: { in: ids }, height: { is_null: false } }).select(name).all()
    let count = db.Station.filter({ open: true }).count()
    return { "a": len(stations), b: count }
}

@endpoint(kind: mutation)
fn add(name: str, height: Option[int]) to Result[Id[Station], str] {
    if name is "" { return Error("a station needs a name") }
    let id = db.Station.insert({ name: name, height: height, open: true })?
    assert(db.Station.update(id, { open: false }), "it is there")
    match db.Station.get(id) {
        Some(station) => log.info(station.name)
        None => print("gone")
    }
    return Ok(id)
}

@endpoint(kind: server)
fn hear(path: str) to Result[str] { return Ok(Speech.transcribe(path)?) }

http get "/stations/{id}" (limit: Option[int]) to Option[Station] { return db.Station.get(int(id)) }
http post "/stations" to Result[int] {
    let body = request.json()?
    return Ok(body.get_int("n")? + -1 / 2)
}

@test fn adds() { assert(fold([1, 2, 3]) is 9) }
`

const folders = ['test/fixtures/lang', 'examples', '../shared/cases/data-language']

/** The programs of the project and of the acceptance cases, and one that uses every construct. */
export function corpus(): string[] {
  const files = folders.flatMap((folder) => {
    const path = projectFile(folder)
    if (!existsSync(path)) return []
    const names = readdirSync(path, {recursive: true, encoding: 'utf8'}).filter((name) => name.endsWith('.svc'))
    return names.sort().map((name) => join(path, name))
  })
  return [everything, ...files.map((file) => readFileSync(file, 'utf8'))]
}

// Deep nesting

/** A nestable construct: `core` inside any number of `open` and `close`, between `before` and `after`. */
export interface Nesting {
  name: string
  open: string
  core: string
  close: string
  before?: string
  after?: string
}

const inBody = {before: 'fn f(a: int) {\n', after: '\n}\n'}
const inType = {before: 'fn f(a: ', after: ') {}\n'}
const inPattern = {before: 'fn f(a: int) {\nmatch a {\n', after: ' => 1\n_ => 2\n}\n}\n'}
const inWhere = {before: '@table type T { a: int }\nfn f() {\ndb.T.where(', after: ')\n}\n'}
const nesting = (name: string, open: string, core: string, close: string, place: object = inBody): Nesting => ({
  name,
  open,
  core,
  close,
  ...place,
})
const operators = ['or', 'and', 'with', 'is', '==', 'isnt', '!=', '<', '>', '<=', '>=', '+', '-', '*', '/', '%']

export const nestings: readonly Nesting[] = [
  nesting('parentheses', '(', '1', ')'),
  nesting('lists', '[', '1', ']'),
  nesting('objects', '{ a: ', '1', ' }'),
  nesting('records', 'R { a: ', '1', ' }'),
  nesting('tuples', '(1, ', '2', ')'),
  nesting('blocks', '{\n', '1', '\n}'),
  nesting('if', 'if true { ', '1', ' } else { 2 }'),
  nesting('else if', 'if a > 1 { 1 } else ', '{ 2 }', ''),
  nesting('conditions of if', 'if ', 'true', ' { true } else { false }'),
  nesting('match', 'match a { _ => ', '1', ' }'),
  nesting('subjects of match', 'match ', 'a', ' { _ => 1 }'),
  nesting('guards of match', 'match a { _ if ', 'true', ' => true\n_ => false }'),
  nesting('for', 'for x in [1] { ', 'a', ' }'),
  nesting('lists of for', 'for x in { ', '[1]', ' } {}'),
  nesting('while', 'while true { ', 'a', ' }'),
  nesting('loop', 'loop { ', 'a', ' }'),
  nesting('let in blocks', '{ let x = ', '1', ' }'),
  nesting('not', 'not ', 'true', ''),
  nesting('!', '!', 'true', ''),
  nesting('-', '- ', '1', ''),
  nesting('lambdas', 'x => ', '1', ''),
  nesting('lambdas with parentheses', '(x) => ', '1', ''),
  nesting('lambdas with fn', 'fn() ', '1', ''),
  nesting('lambdas with blocks', 'fn() { return ', '1', ' }'),
  nesting('defaults of parameters', 'fn(x = ', '1', ') 1'),
  nesting('arguments of calls', 'f(', '1', ')'),
  nesting('arguments of methods', 'a.b(', '1', ')'),
  nesting('constructors', 'Some(', '1', ')'),
  nesting('indexes', 'a[', '0', ']'),
  nesting('calls in a row', '', 'a', '.b()'),
  nesting('calls of calls', '', 'a', '()'),
  nesting('members in a row', '', 'a', '.b'),
  nesting('indexes in a row', '', 'a', '[0]'),
  nesting('? in a row', '', 'a', '?'),
  nesting('pipes in a row', '', 'a', ' |> f'),
  ...operators.map((operator) => nesting(`${operator} in a row`, `1 ${operator} `, '1', '')),
  nesting('sums in parentheses', '(1 + ', '1', ')'),
  nesting('types of lists', 'List[', 'int', ']', inType),
  nesting('types of tuples', '(int, ', 'int', ')', inType),
  nesting('types of maps', 'Map[str, ', 'int', ']', inType),
  nesting('types of functions', 'fn(', 'int', ') to int', inType),
  nesting('types of results of functions', 'fn() to ', 'int', '', inType),
  nesting('patterns of variants', 'Some(', 'x', ')', inPattern),
  nesting('patterns of tuples', '(x, ', '_', ')', inPattern),
  nesting('not in where', '{ not: ', '{ a: 1 }', ' }', inWhere),
  nesting('and in where', '{ and: [', '{ a: 1 }', '] }', inWhere),
  nesting('or in where', '{ or: [{ a: 2 }, ', '{ a: 1 }', '] }', inWhere),
]

const inside = ({open, core, close}: Nesting, depth: number) => open.repeat(depth) + core + close.repeat(depth)

/** A program with a construct nested to the given depth. */
export const nested = (of: Nesting, depth: number): string => `${of.before ?? ''}${inside(of, depth)}${of.after ?? ''}`

/** The same, truncated before the innermost construct. */
export const unclosed = ({before = '', open, close}: Nesting, depth: number): string =>
  before + (open === '' ? `a${close.repeat(depth)}` : open.repeat(depth))

// Mutations

type Mutation = (source: string, random: Random, programs: readonly string[]) => string

/** Approximate tokens of the language; text between two of them belongs to neither. */
const tokenPattern =
  /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\/.*|#.*|@?[A-Za-z_]\w*|\d+(?:\.\d+)?|[-=!<>|]?[=>]|\s+|./gsu
const tokensOf = (source: string) => source.match(tokenPattern) ?? []
const isBlank = (token: string) => /^\s*$/.test(token)

const words = `fn let mut if else while loop break continue match for in to return type import pub and or not is isnt
true false with http get post put delete kind query mutation server on unique asc desc fts vector hybrid None Some Ok
Error Err Unit int float bool str dec bytes Date DateTime Duration Id List Set Map Option Result Json db insert find update all filter where
count order_by limit select sync using live scope eq neq lt lte gt gte contains is_null matches near _id len range
print assert request std Speech constructor __proto__ toString hasOwnProperty prototype
rank rowid oid distance hidden select table index group order values sqlite_master`.split(/\s+/)
const decorators = ['@table', '@index', '@search_index', '@vector_index', '@endpoint', '@test', '@get', '@x.y', '@']
const symbols = [...'()[]{}:,.?=|<>+-*/%!;@#$^&~`\\\'"_', '==', '!=', '->', '=>', '|>', '//', '/*', '*/', '..', '::']
const literals = ['0', '1', '-1', '9007199254740991', '9007199254740992', '1.5', '1dec', '1.50dec', '"', '""', "'a'"]
const texts = ['"it\'s"', '"\\0\\n"', '"\\q"', '"%_\\\\"', '"{x}"', '"\u{1F600}"', '"kind: query"', '"/a/{b}/:c"']
const odd = [
  '\0',
  '\u0001',
  '\u000b',
  '\u000c',
  '\r',
  '\u0085',
  '\u00a0',
  '\u2028',
  '\u2029',
  '\ufeff',
  '\u200b',
  '\u202e',
  '\u0301',
  '\ud800',
  '\udc00',
  '\u{1F469}\u200d\u{1F4BB}',
  '\u00e4',
  '\u212a',
  '\u0130',
  '\uff5b',
  '\u037e',
  '\uffff',
]
const pieces = [
  ...words,
  ...decorators,
  ...symbols,
  ...literals,
  ...texts,
  ...odd,
  '\n',
  '\n\n',
  ' ',
  '\t',
  '\r\n',
  ';',
]

const cut = (source: string, start: number, end: number, put = '') => source.slice(0, start) + put + source.slice(end)

/** Replaces some tokens other than white space. */
function onTokens(source: string, random: Random, change: (tokens: string[], at: number) => void): string {
  const tokens = [...tokensOf(source)]
  const solid = tokens.flatMap((token, i) => (isBlank(token) ? [] : [i]))
  if (solid.length === 0) return source
  change(tokens, random.pick(solid))
  return tokens.join('')
}

/** Words of one kind are interchanged, so that the program still parses and often passes the checker. */
const kin: readonly (readonly string[])[] = [
  [
    'int',
    'float',
    'bool',
    'str',
    'dec',
    'bytes',
    'Json',
    'Unit',
    'Option[int]',
    'List[str]',
    'List[float]',
    '(int, str)',
  ],
  ['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in', 'contains', 'is_null', 'matches', 'near'],
  ['query', 'mutation', 'server'],
  ['get', 'post', 'put', 'delete'],
  ['and', 'or', 'is', 'isnt', '+', '-', '*', '/', '%', '<', '>=', '|>'],
  ['true', 'false', '1', '0', '2.5', '"x"', 'None', '[]', '{}', 'Unit', '()'],
  ['all', 'filter', 'where', 'count', 'insert', 'update', 'delete', 'find', 'query'],
  ['sync', 'using', 'live', 'scope', 'limit', 'order_by', 'select', 'count'],
  ['if', 'while', 'match', 'for', 'loop', 'return'],
  ['len', 'str', 'int', 'float', 'range', 'print'],
]

/** Statements and expressions that are valid almost anywhere. */
const statements = `let x = (1, "a")
let mut y = [1, 2]
let (p, q) = ({ a: 1 }, [None, Some(2)])
let z: Option[int] = 1
let m: Map[str, int] = { a: 1, "b c": 2 }
let o = { a: 1, b: { c: [1.5, 2] } }
y = y.append(3)
match Some(1) { Some(n) if n > 0 => print(n), Some(_) => {} None => {} }
if true { 1 } else if false { 2 } else { 3 }
for k, v in { a: 1 } { print(str(k) + v) }
for i in range(0, 3) { if i is 1 { continue } break }
loop { break }
while false { return }
return None
return
let f = fn(a: int, b: str) to str a + b
let g = x => y => x + y
[1, 2].map(x => (x, x)).filter(p => true).first().unwrap_or((0, 0))
{ let inner = 1 }
let r = db.Station.all()
let rows = db.Station.where({ open: true }).order_by(name).limit(3)
print(len(db.Station.filter({ open: true }).select(name)))
match db.Station.get(1) { Ok(row) => print(row) Error(e) => log.warn(e) }
db.Station.delete(1)
let j = std.json.parse("[1]")
let d = 1.50dec * 2dec - 0.1dec
let e = if true { "a" } else { "b" }
assert(not (1 is 2 or "a" < "b") and !false)
// a note
;`.split('\n')
const expressions = `1 -1 (1) [1, 2] [] {} () None Some(1) Ok(1) Error("e") "a" 'b' true 1.5 1dec x=>x (1,2) {a:1} {1}
if(true){1}else{2} match(1){_=>2} not(true) !true -(1) f() x.y x[0] x? [x].map(str) len("a") fn(a)a Low High(1) Odd{text:"a"}`.split(
  /\s+/,
)

/** Insignificant text between tokens. */
const blanks = [' ', '  ', '\t', '\n', '\n\n\n', ' // c\n', ' # c \n', '\r\n', '']

/** Mutations that often preserve a valid program. */
const gentle: readonly Mutation[] = [
  // Replace a word by another of its kind, or a name by another name.
  (source, random) => {
    const tokens = [...tokensOf(source)]
    const places = tokens.flatMap((token, i) => kin.flatMap((group) => (group.includes(token) ? [{i, group}] : [])))
    if (places.length === 0) return source
    const {i, group} = random.pick(places)
    tokens[i] = random.pick(group)
    return tokens.join('')
  },
  (source, random) => {
    const tokens = [...tokensOf(source)]
    const names = tokens.flatMap((token, i) => (/^[A-Za-z_]\w*$/.test(token) ? [i] : []))
    if (names.length === 0) return source
    tokens[random.pick(names)] = tokens[random.pick(names)] ?? ''
    return tokens.join('')
  },
  // Rename a name everywhere.
  (source, random) => {
    const names = source.match(/[A-Za-z_]\w*/g) ?? ['']
    const name = random.pick(names)
    const put = random.pick([...words, 'A', 'a', 'aB', 'Ab_c', 'ABC', 'x'.repeat(65), random.pick(names)])
    return source.replace(new RegExp(`\\b${name}\\b`, 'g'), put)
  },
  // Insert a statement, or replace an expression.
  (source, random) => {
    const places = [...source.matchAll(/\{ *\n/g)].map(({index, 0: found}) => index + found.length)
    if (places.length === 0) return source
    const at = random.pick(places)
    return cut(source, at, at, `${random.pick(statements)}\n`)
  },
  (source, random) => {
    const places = [...source.matchAll(/(?<![\w"'])(?:\d+|"[^"\n]*"|true|false)(?![\w"'])/g)]
    if (places.length === 0) return source
    const {index, 0: found} = random.pick(places)
    return cut(source, index, index + found.length, random.pick(expressions))
  },
  // Insert white space and comments between two tokens.
  (source, random) => onTokens(source, random, (tokens, at) => tokens.splice(at, 0, random.pick(blanks))),
  (source, random) =>
    tokensOf(source)
      .map((token) => (isBlank(token) && random.chance(0.1) ? random.pick(blanks) : token))
      .join(''),
  (source, random) => source.replaceAll('\n', random.pick(['\r\n', '\n\n\n', ' // x\n', ';\n', '\t\n '])),
  (source, random, programs) => `${source}\n${random.pick(programs)}`,
]

const mutations: readonly Mutation[] = [
  ...gentle,
  // Replace a character.
  (source, random) => {
    const at = random.below(source.length + 1)
    return cut(source, at, at + random.below(2), String.fromCharCode(32 + random.below(96)))
  },
  // Flip a bit.
  (source, random) => {
    const bytes = Buffer.from(source)
    if (bytes.length === 0) return source
    const at = random.below(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
    return bytes.toString(random.chance(0.5) ? 'utf8' : 'latin1')
  },
  (source, random) => {
    const at = random.below(source.length + 1)
    return cut(source, at, at, random.pick(pieces))
  },
  (source, random) => {
    const at = random.below(source.length + 1)
    return cut(source, at, at, random.pick(odd))
  },
  // Delete or duplicate ranges.
  (source, random) => {
    const at = random.below(source.length + 1)
    return cut(source, at, at + random.below(30))
  },
  (source, random) => {
    const at = random.below(source.length + 1)
    const part = source.slice(at, at + random.below(60))
    return cut(source, at, at, part.repeat(1 + random.below(3)))
  },
  (source, random) => source.slice(0, random.below(source.length + 1)),
  (source, random) => source.slice(random.below(source.length + 1)),
  // Delete, duplicate, swap or replace tokens.
  (source, random) => onTokens(source, random, (tokens, at) => tokens.splice(at, 1)),
  (source, random) => onTokens(source, random, (tokens, at) => tokens.splice(at, 0, tokens[at] ?? '', ' ')),
  (source, random) =>
    onTokens(source, random, (tokens, at) => {
      const other = random.below(tokens.length)
      ;[tokens[at], tokens[other]] = [tokens[other] ?? '', tokens[at] ?? '']
    }),
  (source, random) =>
    onTokens(source, random, (tokens, at) => {
      tokens[at] = random.pick(pieces)
    }),
  (source, random) =>
    onTokens(source, random, (tokens, at) => {
      tokens[at] = random.pick(tokens)
    }),
  // Delete, duplicate, swap or join lines.
  (source, random) => {
    const lines = source.split('\n')
    const at = random.below(lines.length)
    const change = random.below(4)
    if (change === 0) lines.splice(at, 1)
    else if (change === 1) lines.splice(at, 0, lines[at] ?? '')
    else if (change === 2) lines.push(...lines.splice(at, 1 + random.below(5)))
    else lines.splice(at, 2, `${lines[at] ?? ''} ${lines[at + 1] ?? ''}`)
    return lines.join('\n')
  },
  (source, random) =>
    source.replaceAll('\n', random.pick(['\r\n', '\r', ' ', '\n\n\n', ' // x\n', ';\n', '\t\n ', '\ufeff\n'])),
  (source, random) => source.replaceAll(' ', random.pick(['', '  ', '\n', '\t', '\u00a0'])),
  // Combine two programs.
  (source, random, programs) => {
    const other = random.pick(programs)
    return source.slice(0, random.below(source.length + 1)) + other.slice(random.below(other.length + 1))
  },
  (source, random, programs) => {
    const other = random.pick(programs)
    const from = random.below(other.length + 1)
    const at = random.below(source.length + 1)
    return cut(source, at, at, other.slice(from, from + random.below(200)))
  },
  // Nest a construct deeply.
  (source, random) =>
    onTokens(source, random, (tokens, at) => {
      const {open, core, close} = random.pick(nestings)
      const depth = random.chance(0.8) ? 1 + random.below(4) : 1 + random.below(400)
      const within = random.chance(0.5) ? (tokens[at] ?? '') : core
      tokens[at] = open.repeat(depth) + within + close.repeat(random.chance(0.8) ? depth : random.below(depth))
    }),
  // Repeat a construct many times.
  (source, random) =>
    onTokens(source, random, (tokens, at) => {
      tokens[at] = `${tokens[at]?.slice(0, 100) ?? ''}${random.pick(['', ' ', ', ', '\n', ';', '.'])}`.repeat(
        2 + random.below(random.chance(0.1) ? 3000 : 300),
      )
    }),
]

/** A mutation of one of the given programs. */
export function mutated(random: Random, programs: readonly string[]): string {
  let source = random.pick(programs)
  const changes = 1 + random.below(random.chance(0.3) ? 12 : 3)
  const choices = random.chance(0.5) ? gentle : mutations
  for (let i = 0; i < changes; i++) source = random.pick(choices)(source, random, programs).slice(0, maxLength)
  return source
}

/** Limits the length of a program that is combined with itself. */
const maxLength = 50_000

// Properties of every source

/** A violated property and its source. */
export class Broken extends Error {
  override readonly name = 'Broken'
}

/** Processor time on an ordinary machine, ms. */
const maxMs = 2000

/** The property that a source violates, or undefined. */
export async function faultOf(source: string): Promise<string | undefined> {
  try {
    await probe(source)
    return undefined
  } catch (error) {
    if (error instanceof Broken) return error.message
    const {stack = ''} = error as Error
    return `threw ${stack.split('\n').slice(0, 3).join(' ').slice(0, 400)}`
  }
}

interface Seen {
  clean: boolean
  formatted: boolean
  ms: number
}

/** @throws Broken, and any exception of the language */
async function probe(source: string): Promise<Seen> {
  const {program, ms} = timed(source)
  holdsDiagnostics(program)
  const formatted = holdsFormat(program)
  if (!program.hasErrors) await holdsWriters(program)
  return {clean: !program.hasErrors, formatted, ms}
}

function timed(source: string): {program: Program; ms: number} {
  // Other processes may have used the CPU, so only the second measurement counts.
  for (let again = true; ; again = false) {
    const elapsed = processorTimer()
    const program = checkProgram(source, {symbols: true})
    const ms = elapsed()
    if (isWithin(ms, maxMs)) return {program, ms}
    if (!again) throw new Broken(`the check took ${Math.round(ms)} ms`)
  }
}

function holdsDiagnostics(program: Program): void {
  const {source, diagnostics, symbols} = program
  const inside = ({start, end}: Span, what: string) => {
    if (!(Number.isInteger(start) && Number.isInteger(end) && start >= 0 && end >= start && end <= source.length))
      throw new Broken(`the span of ${what} is ${start}..${end} in ${source.length}`)
  }
  let before = 0
  for (const found of diagnostics) {
    inside(found, found.code)
    for (const fix of found.fixes ?? []) inside(fix, `a fix of ${found.code}`)
    for (const related of found.related ?? []) inside(related, `a note of ${found.code}`)
    if (found.start < before) throw new Broken(`${found.code} at ${found.start} comes after ${before}`)
    before = found.start
    if (found.message === '' || /undefined(?! name)|\[object|NaN/.test(withoutQuotes(found.message)))
      throw new Broken(`${found.code} has an invalid message: ${found.message}`)
  }
  if (program.hasErrors !== diagnostics.some(({severity}) => severity === 'error'))
    throw new Broken('hasErrors contradicts the diagnostics')
  for (const symbol of symbols) {
    inside(symbol, 'a symbol')
    if (symbol.target !== undefined) inside(symbol.target, 'a target')
    symbol.label()
  }
  const rendered = source.length < maxRendered ? diagnostics.slice(0, 20) : []
  renderDiagnostics(rendered, 'a.svc', source)
  const lines = new Lines(source)
  for (const {span} of rendered.map((found) => asJson(found, 'a.svc', lines)))
    if (span.start_line < 1 || span.start_col < 1 || span.end_line < span.start_line || span.end_line > lines.count)
      throw new Broken(`a diagnostic is at ${JSON.stringify(span)}`)
}

/** Longer programs take more time and find nothing more. */
const maxRendered = 10_000

/** Removes quoted names of the program from a message. */
const withoutQuotes = (message: string) => message.replace(/'[^']*'|"[^"]*"/g, '')

const codes = (diagnostics: readonly Diagnostic[]) => diagnostics.map(({code}) => code).sort()
/** The source without white space, which the formatter must not change. */
const ink = (text: string) => text.replace(/[\s\ufeff]+/g, '')

function holdsFormat({source, diagnostics}: Program): boolean {
  const formatted = formatSource(source)
  if (formatted === undefined) return false
  if (ink(formatted) !== ink(source)) throw new Broken('the formatter changed more than white space')
  const again = formatSource(formatted)
  if (again !== formatted) throw new Broken('the formatter is not idempotent')
  const after = checkProgram(formatted).diagnostics
  if (codes(after).join() !== codes(diagnostics).join())
    throw new Broken(`formatted, it has ${codes(after).join(' ')} instead of ${codes(diagnostics).join(' ')}`)
  return true
}

/** A program without errors can be generated in every format, and SQLite accepts all of its SQL. */
async function holdsWriters(program: Program): Promise<void> {
  const elapsed = processorTimer()
  const statements = ddl(program)
  const names = [...program.tables, ...program.indexes].map(({sqlName}) => sqlName.toLowerCase())
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw new Broken(`two database objects are named ${twice}`)
  const rows = explain(program, {query: undefined, all: true})
  typesFile(program)
  schemasFile(program)
  clientFile(program)
  clientFile(program, {zod: true})
  functionsFile(program)
  JSON.stringify(openapi(program, {title: 'fuzzed', version: '1'}))
  JSON.stringify([schemaDigest(program), appContract(program), runtimeProjection(program, undefined)])
  const ms = elapsed()
  if (!isWithin(ms, maxMs)) throw new Broken(`code generation took ${Math.round(ms)} ms`)
  const {database} = await connect(program, ':memory:')
  try {
    for (const statement of statements) sqlite(statement, () => database.exec(statement))
    for (const {plan} of rows) if (plan.sql !== '') sqlite(plan.sql, () => database.prepare(plan.sql))
  } finally {
    database.close()
  }
}

function sqlite(sql: string, act: () => unknown): void {
  try {
    act()
  } catch (error) {
    throw new Broken(`SQLite reports "${(error as Error).message}" for ${sql.slice(0, 200)}`)
  }
}

// The run

export interface FuzzOptions {
  /** Program i of the run is made from `seed + i` alone. */
  seed: number
  programs: number
  /** Time limit of the run, s. */
  seconds: number
}

export interface FuzzFailure {
  /** The seed of this program: `fuzz({seed, programs: 1, seconds})` reproduces it. */
  seed: number
  reason: string
  /** The program, minimised while it fails for the same reason. */
  source: string
}

export interface FuzzReport {
  seed: number
  programs: number
  /** Programs without errors, which were planned and generated in all formats. */
  clean: number
  /** Programs without syntax errors, which were formatted. */
  formatted: number
  slowestMs: number
  seconds: number
  /** One failure of each kind. */
  failures: FuzzFailure[]
}

/** The kind of a failure: its message without the numbers and names of the program. */
const kindOfFault = (reason: string) => reason.replace(/\d+|"[^"]*"|'[^']*'|of [A-Z].*/g, '')
const maxFailures = 20

/** Creates and tests programs; collects one failure of each kind. */
export async function fuzz({seed, programs, seconds}: FuzzOptions): Promise<FuzzReport> {
  const seeds = corpus()
  const start = performance.now()
  const elapsed = () => (performance.now() - start) / 1000
  const report: FuzzReport = {seed, programs: 0, clean: 0, formatted: 0, slowestMs: 0, seconds: 0, failures: []}
  const kinds = new Set<string>()
  while (report.programs < programs && elapsed() < seconds && kinds.size < maxFailures) {
    const own = seed + report.programs++
    const source = mutated(seeded(own), seeds)
    try {
      const {clean, formatted, ms} = await probe(source)
      if (clean) report.clean++
      if (formatted) report.formatted++
      report.slowestMs = Math.max(report.slowestMs, Math.round(ms))
    } catch {
      const reason = await faultOf(source)
      // A failure that does not repeat was a timeout on a busy machine.
      if (reason === undefined) continue
      const kind = kindOfFault(reason)
      if (kinds.has(kind)) continue
      kinds.add(kind)
      report.failures.push({seed: own, reason, source: await shrunk(source, kind)})
    }
  }
  report.seconds = Math.round(elapsed() * 10) / 10
  return report
}

const shrinkMs = 4000

/** Removes lines, then tokens, then characters, as long as the same failure occurs. */
async function shrunk(source: string, kind: string): Promise<string> {
  const until = performance.now() + shrinkMs
  let best = source
  for (const split of [(text: string) => text.split(/(?<=\n)/), tokensOf, (text: string) => [...text]])
    for (let size = Math.max(1, split(best).length >> 1); size >= 1; size >>= 1)
      for (let at = 0; at < split(best).length && performance.now() < until; ) {
        const parts = [...split(best)]
        parts.splice(at, size)
        const candidate = parts.join('')
        const reason = await faultOf(candidate)
        if (reason !== undefined && kindOfFault(reason) === kind) best = candidate
        else at += size
      }
  return best
}
