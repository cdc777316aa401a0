import assert from 'node:assert/strict'
import {readdir, stat, writeFile} from 'node:fs/promises'
import {basename, dirname} from 'node:path'
import {describe, it} from 'node:test'
import type {Database} from 'better-sqlite3'
import {isErrorOf} from '../../src/errors/index.js'
import {migrate, type Step} from '../../src/lang/index.js'
import {backUp} from '../../src/store/index.js'
import {
  contents,
  database,
  decide,
  execute,
  migrated,
  program,
  query,
  refused,
  rows,
  task,
  values,
} from './databases.js'

const one = (source: string, fields: string) => `${source}\n${task(fields)}`
const insert = (value: string) => `INSERT INTO task (v) VALUES (${value})`

/** The migration step for a type change that does not affect the SQLite schema. */
async function planned(path: string, source: string): Promise<Step | undefined> {
  const {steps} = await migrate(program(source), path, {dryRun: true})
  return steps[0]
}

describe('a type change within one storage class', () => {
  const place = 'type Place { room: str }'
  const state = 'type State = | Open | Shut(why: str)'

  for (const [name, before, after, stored, reason] of [
    [
      'a record gains a field',
      one(place, 'v: Place'),
      one('type Place { room: str, floor: int }', 'v: Place'),
      `'{"room":"A"}'`,
      '1 value is not of type Place, in row 1',
    ],
    [
      'a record loses a field',
      one('type Place { room: str, floor: int }', 'v: Place'),
      one(place, 'v: Place'),
      `'{"room":"A","floor":1}'`,
      '1 value is not of type Place, in row 1',
    ],
    [
      'a variant is renamed',
      one(state, 'v: State'),
      one('type State = | Open | Closed(why: str)', 'v: State'),
      `'{"_tag":"Shut","why":"x"}'`,
      '1 value is not of type State, in row 1',
    ],
    [
      'a field of a variant is renamed',
      one(state, 'v: State'),
      one('type State = | Open | Shut(reason: str)', 'v: State'),
      `'{"_tag":"Shut","why":"x"}'`,
      '1 value is not of type State, in row 1',
    ],
    [
      'a list becomes a record',
      task('v: List[str]'),
      one(place, 'v: Place'),
      `'["A"]'`,
      '1 value is not of type Place, in row 1',
    ],
    [
      'a list becomes a set',
      task('v: List[int]'),
      task('v: Set[int]'),
      `'[1,1]'`,
      '1 value is not of type Set[int], in row 1',
    ],
    [
      'a string becomes a decimal number',
      task('v: str'),
      task('v: dec'),
      `'cheap'`,
      '1 value is not of type dec, in row 1',
    ],
    [
      'a string becomes a list',
      task('v: str'),
      task('v: List[int]'),
      `'[1]'`,
      '1 value is not of type List[int], in row 1',
    ],
    ['a list becomes a string', task('v: List[int]'), task('v: str'), `'[1]'`, '1 value is not of type str, in row 1'],
    ['a number becomes a bool', task('v: int'), task('v: bool'), '2', '1 value is not of type bool, in row 1'],
  ] as const)
    it(`blocks if ${name}, and --rebuild alone is rejected`, async (t) => {
      const path = await database(t, before, insert(stored))
      const step = await planned(path, after)
      assert.deepEqual(
        [step?.action, step?.class, step?.blocking, step?.reason, step?.resolve_with],
        ['change_column', 'rebuild', true, reason, '--using Task.v=<expression>'],
      )
      assert.notEqual(step?.from, step?.to)
      await refused(
        path,
        after,
        decide({rebuilds: ['Task']}),
        'migration_failed',
        /1 value of v cannot be converted from .+ to .+ \(row 1\); add --using Task\.v=<expression> or --default/,
      )
      assert.equal((await migrate(program(before), path)).up_to_date, true)
    })

  for (const [name, before, after, stored] of [
    ['a string becomes a decimal number', task('v: str'), task('v: dec'), [`'1.50'`, `'-2'`]],
    ['a number becomes a bool', task('v: int'), task('v: bool'), ['0', '1']],
    [
      'a field without values is removed',
      one('type Place { room: str, floor: Option[int] }', 'v: Place'),
      one(place, 'v: Place'),
      [`'{"room":"A"}'`],
    ],
    [
      'a variant without values is removed',
      one('type State = | Open | Held | Shut(why: str)', 'v: State'),
      one(state, 'v: State'),
      [`'{"_tag":"Open"}'`],
    ],
    ['a list becomes a set', task('v: List[int]'), task('v: Set[int]'), ["'[1,2]'"]],
  ] as const)
    it(`is resolved by --rebuild if ${name} and every value is valid`, async (t) => {
      const path = await database(t, before, ...stored.map(insert))
      const step = await planned(path, after)
      assert.deepEqual([step?.blocking, step?.reason, step?.resolve_with], [true, undefined, '--rebuild Task'])
      assert.equal((await migrate(program(after), path)).left, 1)
      const before_ = values(path, 'SELECT v FROM task')
      await migrated(path, after, decide({rebuilds: ['Task']}))
      assert.deepEqual(values(path, 'SELECT v FROM task'), before_)
    })

  for (const [name, before, after, stored] of [
    [
      'a record gains an optional field',
      one(place, 'v: Place'),
      one('type Place { room: str, floor: Option[int] }', 'v: Place'),
      `'{"room":"A"}'`,
    ],
    [
      'a sum gains a variant',
      one(state, 'v: State'),
      one('type State = | Held | Open | Shut(why: str)', 'v: State'),
      `'{"_tag":"Open"}'`,
    ],
    ['a record is renamed', one(place, 'v: Place'), one('type Room { room: str }', 'v: Room'), `'{"room":"A"}'`],
    [
      'a field may be empty now',
      one(place, 'v: Place'),
      one('type Place { room: Option[str] }', 'v: Place'),
      `'{"room":"A"}'`,
    ],
    ['a list of integers becomes one of numbers', task('v: List[int]'), task('v: List[float]'), "'[1]'"],
    ['a set becomes a list', task('v: Set[int]'), task('v: List[int]'), "'[1]'"],
    ['a record becomes Json', one(place, 'v: Place'), task('v: Json'), `'{"room":"A"}'`],
    ['a decimal number becomes a string', task('v: dec'), task('v: str'), "'1.5'"],
    ['a truth value becomes a number', task('v: bool'), task('v: int'), '1'],
    [
      'a reference points to another table',
      `${task('v: Id[Task]')}@table type Other { n: int }`,
      `${task('v: Id[Other]')}@table type Other { n: int }`,
      '1',
    ],
    [
      'a recursive type is renamed',
      one('type Node { next: Option[Node] }', 'v: Node'),
      one('type Link { next: Option[Link] }', 'v: Link'),
      `'{"next":{}}'`,
    ],
    [
      'no row has a value',
      one(place, 'v: Option[Place]'),
      one('type Place { floor: int }', 'v: Option[Place]'),
      'NULL',
    ],
  ] as const)
    it(`is not a step if ${name}`, async (t) => {
      const path = await database(t, before, insert(stored))
      assert.equal((await migrate(program(after), path)).up_to_date, true)
      assert.equal((await migrate(program(after), path)).up_to_date, true)
    })

  it('is reported again after a change that was not a step', async (t) => {
    const wider = one('type Place { room: str, floor: Option[int] }', 'v: Place')
    const path = await database(t, one(place, 'v: Place'))
    await migrate(program(wider), path)
    execute(path, insert(`'{"room":"A","floor":1}'`))
    assert.equal((await planned(path, one(place, 'v: Place')))?.blocking, true)
  })

  for (const [from, to, stored, fresh] of [
    ['str', 'Json', `'say "a"'`, '"say \\"a\\""'],
    ['dec', 'Json', "'1.50'", '"1.50"'],
    ['int', 'Json', '3', '3'],
    ['bool', 'Json', '1', 'true'],
    ['bytes', 'Json', "X'0001'", '"AAE="'],
    ['Json', 'str', `'"a"'`, 'a'],
    ['Json', 'int', "'3'", 3],
    ['Json', 'bool', "'true'", 1],
  ] as const)
    it(`converts ${stored} of ${from} to ${to} through JSON`, async (t) => {
      const path = await database(t, task(`v: ${from}`), insert(stored))
      await migrated(path, task(`v: ${to}`), decide({rebuilds: ['Task']}))
      assert.deepEqual(values(path, 'SELECT v FROM task'), [fresh])
    })

  it('uses --default only for values that cannot be converted', async (t) => {
    const path = await database(t, task('v: Option[str]'), insert("'1.50'"), insert("'cheap'"), insert('NULL'))
    await migrated(path, task('v: Option[dec]'), decide({defaults: ['Task.v="0"']}))
    assert.deepEqual(values(path, 'SELECT v FROM task'), ['1.50', '0', null])
  })
})

describe('--using', () => {
  const before = `type Place { room: str }
type State = | Open | Shut(why: str)
${task('title: str, state: State, place: Place, price: Option[int]')}`
  const filled = [
    `INSERT INTO task (title, state, place, price) VALUES ('a', '{"_tag":"Open"}', '{"room":"A"}', 3)`,
    `INSERT INTO task (title, state, place) VALUES ('b', '{"_tag":"Shut","why":"x"}', '{"room":"B"}')`,
  ]
  const all = '@endpoint(kind: query) fn all() to List[Task] { return db.Task.all() }'

  it('computes columns from the old row with its old types', async (t) => {
    const path = await database(t, before, ...filled)
    const after = `type Place { room: str, floor: int }
type State = | Todo | Done(reason: str)
${task('name: str, state: State, place: Place, price: dec, note: Option[str]', all)}`
    const usings = [
      'Task.name=old.title.to_upper()',
      'Task.state=match old.state { Open => Todo, Shut(why) => Done(why) }',
      'Task.place={ room: old.place.room, floor: old._id }',
      'Task.price=match old.price { Some(n) => if n > 2 { 3dec } else { 0dec }, None => 0dec }',
      'Task.note=old.title',
    ]
    const {steps} = await migrated(path, after, decide({usings, drops: ['Task.title']}))
    assert.equal(steps.filter(({blocking}) => blocking).length, 5)
    assert.deepEqual(await query(path, after, 'all'), [
      {_id: 1, name: 'A', state: {_tag: 'Todo'}, place: {room: 'A', floor: 1}, price: '3', note: 'a'},
      {_id: 2, name: 'B', state: {_tag: 'Done', reason: 'x'}, place: {room: 'B', floor: 2}, price: '0', note: 'b'},
    ])
  })

  it('renames a column together with --drop', async (t) => {
    const path = await database(t, before, ...filled)
    const after = before.replace('title: str', 'name: str')
    await migrated(path, after, decide({usings: ['Task.name=old.title'], drops: ['Task.title']}))
    assert.deepEqual(values(path, 'SELECT name FROM task'), ['a', 'b'])
  })

  it('reports the row whose value cannot be computed, and changes nothing', async (t) => {
    const path = await database(t, before, ...filled)
    const after = before.replace('price: Option[int]', 'price: int')
    await refused(
      path,
      after,
      decide({usings: ['Task.price=old.price.unwrap()']}),
      'migration_failed',
      /price of row 2: /,
    )
  })

  for (const [value, fault] of [
    ['Task.price', /--using Task\.price: it is not of the form Table\.column=expression/],
    ['Chore.price=1', /the program declares no table Chore/],
    ['Task.cost=1', /table Task has no column cost/],
    ['Task.title=old.title', /no migration step changes the values of this column/],
    ['Task.price=old.cost', /cost/],
    ['Task.price=old.title', /int/],
    ['Task.price=', /./],
    ['Task.price=1 +', /./],
    ['Task.price=db.Task.count()', /it may use only the old row/],
  ] as const)
    it(`rejects ${value}`, async (t) => {
      const path = await database(t, before, ...filled)
      const after = before.replace('price: Option[int]', 'price: int')
      await refused(path, after, decide({usings: [value]}), 'migration_choice', fault)
    })
})

describe('a database of an earlier version without recorded types', () => {
  const before = task('v: str, w: List[int], n: int')
  const old = 'DROP TABLE svc_data_columns'

  it('is checked value by value, once', async (t) => {
    const path = await database(t, before, old, `INSERT INTO task (v, w, n) VALUES ('1.5', '[1]', 1)`)
    const fits = task('v: dec, w: Set[int], n: bool')
    assert.equal((await migrate(program(fits), path)).up_to_date, true)
    assert.deepEqual(values(path, 'SELECT declared FROM svc_data_columns ORDER BY column_name'), [
      'bool',
      'dec',
      'Set[int]',
    ])
    assert.equal((await planned(path, task('v: str, w: Set[int], n: bool')))?.action, undefined)
    assert.equal((await planned(path, task('v: dec, w: Set[str], n: bool')))?.blocking, true)
  })

  it('blocks if a value is not of its type', async (t) => {
    const path = await database(t, before, old, `INSERT INTO task (v, w, n) VALUES ('1.5', '[1]', 1), ('x', '{}', 2)`)
    const {steps, left} = await migrate(program(task('v: dec, w: List[int], n: bool')), path)
    assert.deepEqual(
      steps.map(({column, reason}) => [column, reason]),
      [
        ['v', '1 value is not of type dec, in row 2'],
        ['w', '1 value is not of type List[int], in row 2'],
        ['n', '1 value is not of type bool, in row 2'],
      ],
    )
    assert.equal(left, 3)
  })

  it('preserves text that is not valid UTF-8', async (t) => {
    const path = await database(
      t,
      task('v: str, n: int'),
      old,
      `INSERT INTO task (v, n) VALUES (CAST(X'E9' AS TEXT), 1)`,
    )
    await migrated(path, task('v: str, n: str'), decide({rebuilds: ['Task']}))
    assert.deepEqual(values(path, 'SELECT hex(v) FROM task'), ['E9'])
  })

  it('passes Json to --using if only SQLite declares the column', async (t) => {
    const source = (fields: string) => one(`type Place { ${fields} }`, 'v: Place')
    const path = await database(t, source('room: str'), old, insert(`'{"room":"A"}'`))
    const after = source('room: str, floor: int')
    await migrated(path, after, decide({usings: ['Task.v={ room: old.v.get_str("room").unwrap(), floor: 1 }']}))
    assert.deepEqual(values(path, 'SELECT v FROM task'), ['{"room":"A","floor":1}'])
  })
})

describe('a backup', () => {
  it('is complete or absent: a failed migration leaves no backup and no partial file', async (t) => {
    const path = await database(t, task('v: str'), insert("'x'"))
    await refused(path, task('v: int'), decide({rebuilds: ['Task']}), 'migration_failed', /cannot be converted/)
    const full = Object.assign(new Error('database or disk is full'), {code: 'SQLITE_FULL'})
    const fails = async (copy: string) => {
      await writeFile(copy, 'the first pages')
      throw full
    }
    await assert.rejects(
      backUp({backup: fails, exec() {}, prepare: () => ({get() {}})} as unknown as Database, path, new Date()),
      full,
    )
    assert.deepEqual(
      (await readdir(dirname(path))).filter((name) => name !== basename(path)),
      [],
    )
    assert.equal((await migrate(program(task('v: str')), path)).up_to_date, true)
  })

  it('is one of the ten newest; older backups are removed and reported', async (t) => {
    const path = await database(t, task('v: str'))
    let source = task('v: str')
    const at = (day: number) => () => new Date(Date.UTC(2026, 0, day))
    const other = `${path}.backup-mine`
    await writeFile(other, 'mine')
    for (let day = 1; day <= 10; day++) {
      source += `@table type T${day} { n: int }\n`
      const report = await migrate(program(source), path, {now: at(day)})
      assert.equal(report.removed_backups, undefined)
    }
    source += '@table type T11 { n: int }\n'
    const report = await migrate(program(source), path, {now: at(11)})
    assert.deepEqual(report.removed_backups, [`${path}.backup-20260101T000000Z`])
    const backups = (await readdir(dirname(path))).filter((name) => name.includes('.backup-'))
    assert.equal(backups.length, 11)
    assert.ok((await stat(other)).isFile())
  })
})

/** Databases created by other tools, with features that the language does not have. */
describe('a database created manually', () => {
  const made = [
    `CREATE TABLE author (
  _id INTEGER PRIMARY KEY, -- a comment, with ) and ,
  "handle" TEXT NOT NULL UNIQUE COLLATE NOCASE,
  born TEXT DEFAULT 'un, known' CHECK (born <> ')'),
  made TEXT NOT NULL DEFAULT (datetime('2026-01-01', '+1 day')),
  shout TEXT GENERATED ALWAYS AS (upper(handle)) VIRTUAL,
  CONSTRAINT both UNIQUE (handle, born)
)`,
    `CREATE TABLE book (
  _id INTEGER PRIMARY KEY AUTOINCREMENT,
  pages INT,
  title VARCHAR(200) NOT NULL /* the name */,
  author INTEGER NOT NULL REFERENCES author (_id) ON DELETE CASCADE,
  price NUMERIC(10, 2) DEFAULT -1.5e0,
  [of series] TEXT
)`,
    'CREATE TABLE review (_id INTEGER PRIMARY KEY, book INTEGER REFERENCES book ON DELETE CASCADE, stars INTEGER) STRICT',
    'CREATE INDEX `book_title` ON `book` (`title` COLLATE NOCASE DESC) WHERE pages > 1',
    'CREATE UNIQUE INDEX idx_author_handle ON author (lower(handle))',
    `CREATE TRIGGER book_gone AFTER DELETE ON book BEGIN DELETE FROM review WHERE book = old._id; END`,
    'CREATE VIEW long_books AS SELECT title FROM book WHERE pages > 500',
    `INSERT INTO author (handle, born) VALUES ('ann', '1950'), ('bo', NULL)`,
    `INSERT INTO book (pages, title, author, price, "of series") VALUES (600, 'One', 1, 9.5, 'x'), (NULL, 'Two', 1, NULL, NULL), (3, 'Three', 2, 7, 'y')`,
    'INSERT INTO review (book, stars) VALUES (1, 5), (1, 4), (3, 1)',
    'DELETE FROM book WHERE _id = 2',
  ]
  const before = `@table type Scratch { n: int }`
  const after = `@table type Scratch { n: int }
@table type Author { handle: str, born: Option[str], made: str, note: Option[str] }
@table type Book { pages: Option[int], title: str, author: Id[Author], price: Option[float] }
@table type Review { book: Option[Id[Book]], stars: Option[int] }
@index Book.by_title on (title)
`

  it('preserves rows, values, references, checks, defaults, indexes and column order', async (t) => {
    const path = await database(t, before, ...made)
    const tables = ['author', 'book', 'review']
    const all = () => tables.map((name) => rows(path, `SELECT * FROM ${name}`))
    const was = all()
    const {left} = await migrate(program(after), path, decide({rebuilds: ['Book', 'Author', 'Review']}))
    // Undeclared: two columns of the tables.
    assert.equal(left, 1)
    const now = all() as Record<string, unknown>[][]
    assert.deepEqual(
      now,
      was.map((each, i) => (each as object[]).map((row) => (i === 0 ? {...row, note: null} : row))),
    )
    const columns = (name: string) => values(path, `SELECT name FROM pragma_table_xinfo('${name}')`)
    assert.deepEqual(columns('book'), ['_id', 'pages', 'title', 'author', 'price', 'of series'])
    assert.deepEqual(columns('author'), ['_id', 'handle', 'born', 'made', 'shout', 'note'])
    assert.deepEqual(values(path, 'PRAGMA integrity_check'), ['ok'])
    const indexes = values(
      path,
      `SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name`,
    )
    assert.deepEqual(indexes, ['book_title', 'idx_author_handle', 'idx_book_by_title'])

    assert.throws(() => execute(path, `INSERT INTO author (handle) VALUES ('ANN')`), /UNIQUE/)
    assert.throws(() => execute(path, `INSERT INTO author (handle, born) VALUES ('cy', ')')`), /CHECK/)
    execute(path, `INSERT INTO author (handle) VALUES ('cy')`, `INSERT INTO book (title, author) VALUES ('Four', 3)`)
    assert.deepEqual(rows(path, `SELECT born, made, shout FROM author WHERE handle = 'cy'`), [
      {born: 'un, known', made: '2026-01-02 00:00:00', shout: 'CY'},
    ])
    assert.deepEqual(rows(path, `SELECT _id, pages FROM book WHERE title = 'Four'`), [{_id: 4, pages: null}])
    execute(path, 'PRAGMA foreign_keys = ON; DELETE FROM author WHERE _id = 1')
    assert.deepEqual(values(path, 'SELECT book FROM review'), [3])
    assert.deepEqual(values(path, 'SELECT title FROM long_books'), [])
  })

  it('is unchanged without a decision', async (t) => {
    const path = await database(t, before, ...made)
    const was = contents(path).rows
    await assert.rejects(
      migrate(program(after.replace('price: Option[float]', 'price: bool')), path, decide({rebuilds: ['Book']})),
    )
    assert.deepEqual(contents(path).rows, was)
  })

  for (const sql of [
    'CREATE TABLE task (id INTEGER PRIMARY KEY, v TEXT NOT NULL)',
    'CREATE TABLE task (_id TEXT PRIMARY KEY, v TEXT NOT NULL)',
    'CREATE TABLE task (_id INTEGER PRIMARY KEY, v TEXT NOT NULL) WITHOUT ROWID',
  ])
    it(`blocks if its rows have a different key: ${sql}`, async (t) => {
      const path = await database(t, before, sql, `INSERT INTO task VALUES (1, 'x')`)
      const {steps} = await migrate(program(before + task('v: str, w: int', '@index Task.by_v on (v)')), path)
      assert.deepEqual(
        steps.map(({action, blocking, reason}) => [action, blocking, reason]),
        [
          [
            'rebuild_table',
            true,
            'the table has no column _id INTEGER PRIMARY KEY; rename the table, or add that column',
          ],
        ],
      )
    })
})

describe('a migration without a required decision', () => {
  it('reports the error with an actionable hint', async (t) => {
    const path = await database(t, task('v: str'), insert("'x'"))
    await assert.rejects(migrate(program(task('v: dec')), path, decide({rebuilds: ['Task']})), (error) => {
      assert.ok(isErrorOf(error, 'migration_failed'))
      assert.match(
        error.message,
        /1 value of v cannot be converted from str to dec \(row 1\); add --using Task\.v=<expression> or --default Task\.v=<json>\.$/,
      )
      return true
    })
  })
})
