/** Random pairs of versions of a program, with random rows. */
import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {isErrorOf} from '../../src/errors/index.js'
import {
  blockingSteps,
  connect,
  migrate,
  noDecisions,
  type Program,
  recordInserter,
  rowDecoder,
  toJson,
} from '../../src/lang/index.js'
import {type Random, seeded} from '../support/random.js'
import {temporaryFolder} from '../support/temporary.js'
import {contents, program} from './databases.js'
import {
  type Fields,
  names,
  optional,
  type Shape,
  scalars,
  shape,
  some,
  TypeWriter,
  value,
  variantNames,
} from './random-types.js'

/** A plausible later version of a type. */
function changed(random: Random, of: Shape): Shape {
  if (random.chance(0.15)) return shape(random)
  switch (of.kind) {
    case 'List':
    case 'Set':
      return random.chance(0.4)
        ? {kind: of.kind === 'List' ? 'Set' : 'List', of: of.of}
        : {...of, of: changed(random, of.of)}
    case 'Map':
      return {...of, of: changed(random, of.of)}
    case 'Option':
      return random.chance(0.4) ? of.of : {...of, of: changed(random, of.of)}
    case 'record':
      return {kind: 'record', fields: changedFields(random, of.fields)}
    case 'sum': {
      const remaining = of.variants.filter(() => random.chance(0.8))
      const free = variantNames.filter((name) => !remaining.some((each) => each.name === name))
      const more = random.chance(0.4) && free.length > 0 ? [{name: random.pick(free), fields: []}] : []
      const variants = [
        ...remaining.map(({name, fields: inner}) => ({name, fields: changedFields(random, inner)})),
        ...more,
      ]
      return variants.length === 0 ? of : {kind: 'sum', variants}
    }
    default:
      return {kind: random.pick(scalars)}
  }
}

function changedFields(random: Random, of: Fields): Fields {
  const remaining = of
    .filter(() => random.chance(0.85))
    .map((each) => (random.chance(0.25) ? {...each, shape: changed(random, each.shape)} : each))
  const free = names.filter((name) => !of.some((each) => each.name === name))
  const more =
    random.chance(0.4) && free.length > 0 ? [{name: random.pick(free), shape: optional(random, shape(random, 2))}] : []
  return [...remaining, ...more].length === 0 ? of : [...remaining, ...more]
}

/** The source of a program with one table of these columns, and of more that are written as text. */
function sourceOf(
  columns: Fields,
  index: string,
  parts: ReadonlyMap<string, string> = new Map(),
  more: readonly string[] = [],
): string {
  const writer = new TypeWriter()
  const fields = columns.map((each) => `${writer.fields([each])}${parts.get(each.name) ?? ''}`)
  const table = `@table type Task { ${[...fields, ...more].join(', ')} }`
  return `${writer.declarations.join('\n')}\n${table}\n${index}\n`
}

/** Conditions that some values of a column do not meet. */
function conditions(random: Random, columns: Fields): Map<string, string> {
  const conditionOf = ({name, shape: {kind}}: Fields[number]) =>
    kind === 'int' ? `${name} > -5 or ${name} is 7` : kind === 'str' ? `${name}.len() < 4` : undefined
  return new Map(
    columns.flatMap((each) => {
      const condition = random.chance(0.3) ? conditionOf(each) : undefined
      return condition === undefined ? [] : [[each.name, ` check(${condition})`] as const]
    }),
  )
}

/** A column that refers to rows, which may be missing, and later has an action; and a column that the store sets. */
function related(random: Random): {before: string[]; after: string[]} {
  const up = 'up: Option[Id[Task]]'
  const action = `${up} on delete ${random.pick(['restrict', 'cascade', 'set_null'])}`
  const before = random.chance(0.15) ? [up] : []
  const after = random.chance(before.length > 0 ? 0.8 : 0.1) ? [action] : before
  return {before, after: random.chance(0.1) ? [...after, 'made: Option[int] @created_at'] : after}
}

/** Every row as the program reads it, in id order. @throws Failure if a value is not of its type */
async function read(of: Program, path: string): Promise<Record<string, unknown>[]> {
  const connection = await connect(of, path, true)
  try {
    const [table] = of.tables
    assert.ok(table)
    const decode = rowDecoder(table.columns)
    const rows = connection.database.prepare(`SELECT * FROM task ORDER BY _id`).all() as Record<string, unknown>[]
    return rows.map((row) => toJson(decode(row)) as Record<string, unknown>)
  } finally {
    connection.close()
  }
}

/** The name of a variant without fields, which is also its text; any other value is unchanged. */
function bare(value: unknown): unknown {
  const keys = typeof value === 'object' && value !== null ? Object.keys(value) : []
  return keys.length === 1 && keys[0] === '_tag' ? (value as {_tag: unknown})._tag : value
}

/** Whether two JSON values have the same meaning; 1, "1" and true can be equal. */
function means(one: unknown, other: unknown): boolean {
  const [a, b] = [bare(one), bare(other)]
  const isNone = (each: unknown) => each === null || each === undefined
  if (isNone(a) || isNone(b)) return isNone(a) && isNone(b)
  if (typeof a === 'object' || typeof b === 'object') {
    if (typeof a !== 'object' || typeof b !== 'object' || Array.isArray(a) !== Array.isArray(b)) return false
    const keys = new Set([...Object.keys(a as object), ...Object.keys(b as object)])
    return [...keys].every((key) => means((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]))
  }
  const plain = (each: unknown) => (typeof each === 'boolean' ? Number(each) : each)
  return String(plain(a)) === String(plain(b)) || Number(plain(a)) === Number(plain(b))
}

/** The result for a pair of programs. */
type End = 'fits' | 'converted' | 'refused'

/** Creates a database with the first version and migrates it to the second, with every possible decision. */
async function migratePair(seed: number, path: string): Promise<End> {
  const random = seeded(seed)
  const columns = some(random, names, 2).map((name) => ({name, shape: optional(random, shape(random))}))
  const isUnique = random.chance(0.3)
  const indexable = (of: Shape): boolean =>
    of.kind === 'Option' ? indexable(of.of) : ['int', 'str', 'dec', 'bool'].includes(of.kind)
  const kept = changedFields(
    random,
    columns.map((each) => (random.chance(0.5) ? {...each, shape: changed(random, each.shape)} : each)),
  )
  const earlier = new Map(columns.filter(() => random.chance(0.15)).map(({name}) => [`${name}_now`, name] as const))
  const nowOf = (name: string) => [...earlier].find(([, was]) => was === name)?.[0] ?? name
  const next = kept.map((each) => ({...each, name: nowOf(each.name)}))
  const first = nowOf(columns[0]?.name ?? '')
  const isIndexed = isUnique && next.some(({name, shape: each}) => name === first && indexable(each))
  const condition = next.some(({name, shape: {kind}}) => name === first && kind === 'int')
  const partial = condition && random.chance(0.5) ? ` where (${first} > 0)` : ''
  const index = isIndexed ? `@index Task.one on (${first}) unique${partial}` : ''
  const parts = conditions(random, next)
  for (const [name, was] of earlier) parts.set(name, `${parts.get(name) ?? ''} was ${was}`)
  const {before, after} = related(random)
  const source = sourceOf(next, index, parts, after)
  const [old, fresh] = [program(sourceOf(columns, '', undefined, before)), program(source)]

  await migrate(old, path)
  const connection = await connect(old, path)
  const [table] = old.tables
  assert.ok(table)
  const insert = recordInserter(old, table, connection, false)
  for (let i = 0; i < 1 + random.below(6); i++)
    insert(Object.fromEntries(columns.map(({name, shape: each}) => [name, value(random, each)])))
  if (before.length > 0)
    connection.database.exec(
      `UPDATE task SET up = nullif(${random.below(9)} - _id, 0) WHERE _id % ${1 + random.below(3)} = 0`,
    )
  // Half of the databases have no declared types, as from an earlier version.
  const isLegacy = random.chance(0.3)
  if (isLegacy) connection.database.exec('DROP TABLE svc_data_columns')
  connection.close()
  const was = await read(old, path)

  const plan = await migrate(fresh, path, {dryRun: true})
  const names_ = next.map(({name}) => name)
  const decisions = {
    ...noDecisions,
    rebuilds: ['Task'],
    drops: columns.filter(({name}) => !names_.includes(nowOf(name))).map(({name}) => `Task.${name}`),
    defaults: plan.steps
      .filter((step) => step.class === 'needs_default')
      .map(({column}) => {
        const added = next.find(({name}) => name === column)
        assert.ok(added)
        return `Task.${column}=${JSON.stringify(value(random, added.shape))}`
      }),
  }
  const left = contents(path)
  try {
    const report = await migrate(fresh, path, {decisions})
    if (report.left > 0) {
      assert.ok(blockingSteps(report, decisions, fresh).length > 0, 'something blocks')
      assert.deepEqual(contents(path), left, 'half of a migration is not applied')
      assert.deepEqual(await read(old, path), was)
      return 'refused'
    }
  } catch (error) {
    assert.ok(isErrorOf(error, 'migration_failed'), String(error))
    assert.match(error.message, /add --(default|using)|the same|duplicate values/)
    assert.deepEqual(contents(path), left)
    assert.deepEqual(await read(old, path), was)
    return 'refused'
  }
  const now = await read(fresh, path)
  assert.equal(now.length, was.length)
  // A database without declared types does not distinguish a text from JSON.
  for (const [i, row] of now.entries()) {
    assert.equal(row.up ?? null, was[i]?.up ?? null)
    for (const {name} of columns)
      if (
        names_.includes(nowOf(name)) &&
        !(isLegacy && [row[nowOf(name)], was[i]?.[name]].some((each) => typeof each === 'string'))
      )
        assert.ok(
          means(was[i]?.[name], row[nowOf(name)]),
          `${name}: ${JSON.stringify(was[i]?.[name])} became ${JSON.stringify(row[nowOf(name)])}`,
        )
  }
  return plan.up_to_date ? 'fits' : 'converted'
}

/** Migrates the first pairs; all three results must occur. */
export async function migratePairs(t: TestContext, pairs: number, firstSeed = 1): Promise<void> {
  const folder = await temporaryFolder(t)
  const ends: Record<End, number> = {fits: 0, converted: 0, refused: 0}
  for (let seed = firstSeed; seed < firstSeed + pairs; seed++)
    try {
      ends[await migratePair(seed, join(folder, `${seed}.db`))]++
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, {cause: error})
    }
  t.diagnostic(JSON.stringify(ends))
  for (const count of Object.values(ends)) assert.ok(count > 0)
}
