import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {readdir, stat, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {describe, it} from 'node:test'
import {blockingSteps, connect, migrate, noDecisions, type Step} from '../../src/lang/index.js'
import {temporaryFolder} from '../support/temporary.js'
import {
  contents,
  database,
  decide,
  execute,
  failure,
  migrated,
  program,
  query,
  refused,
  rows,
  task,
  values,
  without,
} from './databases.js'

describe('a program without a database', () => {
  const source = `@table type UserProfile { name: str, age: Option[int] }
@table type Note { text: str, by: Id[UserProfile] }
@index Note.by_author on (by)
@index UserProfile.by_name on (name, age) unique`

  it('creates its tables, then its indexes, in source order', async (t) => {
    const path = join(await temporaryFolder(t), 'deep', 'app.db')
    const report = await migrated(path, source)
    assert.deepEqual(without(report.steps), [
      {action: 'create_table', class: 'auto', blocking: false, table: 'user_profile'},
      {action: 'create_table', class: 'auto', blocking: false, table: 'note'},
      {action: 'create_index', class: 'auto', blocking: false, index: 'idx_note_by_author'},
      {action: 'create_index', class: 'auto', blocking: false, index: 'idx_user_profile_by_name'},
    ])
    assert.deepEqual([report.database, report.up_to_date, report.backup], [path, false, undefined])
    assert.deepEqual(values(path, `SELECT sql FROM sqlite_schema WHERE name IN ('user_profile', 'note')`), [
      'CREATE TABLE "user_profile" (\n  "_id" INTEGER PRIMARY KEY AUTOINCREMENT,\n  "name" TEXT NOT NULL,\n  "age" INTEGER\n)',
      'CREATE TABLE "note" (\n  "_id" INTEGER PRIMARY KEY AUTOINCREMENT,\n  "text" TEXT NOT NULL,\n  "by" INTEGER NOT NULL\n)',
    ])
    assert.equal((await stat(path)).mode & 0o777, 0o600)
  })

  it('lists the steps in a dry run, which creates no file', async (t) => {
    const path = join(await temporaryFolder(t), 'app.db')
    const {applied, left, steps} = await migrate(program(source), path, {dryRun: true})
    assert.deepEqual([applied, left, steps.length], [0, 4, 4])
    assert.equal(existsSync(path), false)
  })

  it('has a table in an in-memory database', async () => {
    assert.equal((await migrate(program(source), ':memory:')).applied, 4)
  })
})

describe('a migration with a blocking step', () => {
  const before = `${task('title: str, owner: str', '@index Task.by_owner on (owner)')}@table type Old { n: int }`
  const filled = `INSERT INTO task (title, owner) VALUES ('a', 'Ann')`
  const snapshot = (path: string) => rows(path, 'SELECT name, sql FROM sqlite_schema ORDER BY name')

  for (const [name, after, options] of [
    ['that needs a value', task('title: str, owner: str, note: Option[str], level: int'), {}],
    ['that drops a column', `${task('title: str')}@table type Tag { name: str }`, {}],
    ['of which only another one is decided', task('title: int, note: Option[str]'), decide({rebuilds: ['Task']})],
    [
      'for a live program',
      task('title: str', '@endpoint(kind: query) fn all() to List[Task] { return db.Task.all().live("t") }'),
      {},
    ],
  ] as const)
    it(`${name} changes nothing, and lists all steps`, async (t) => {
      const path = await database(t, before, filled)
      const [schema, files] = [snapshot(path), await readdir(dirname(path))]
      const planned = await migrate(program(after), path, {...options, dryRun: true})
      assert.deepEqual(await migrate(program(after), path, options), planned)
      assert.deepEqual([snapshot(path), await readdir(dirname(path))], [schema, files])
    })
})

describe('a new table', () => {
  it('is created next to existing tables', async (t) => {
    const path = await database(t, task('title: str'), `INSERT INTO task (title) VALUES ('a')`)
    const {steps} = await migrated(path, `${task('title: str')}@table type Note { text: str }`)
    assert.deepEqual(without(steps), [{action: 'create_table', class: 'auto', blocking: false, table: 'note'}])
    assert.deepEqual(rows(path, 'SELECT * FROM task'), [{_id: 1, title: 'a'}])
  })
})

describe('a new column', () => {
  it('that is nullable is added', async (t) => {
    const path = await database(t, task('title: str'), `INSERT INTO task (title) VALUES ('a')`)
    const {steps} = await migrated(path, task('title: str, note: Option[str]'))
    assert.deepEqual(steps, [
      {
        action: 'add_column',
        class: 'auto',
        blocking: false,
        table: 'task',
        column: 'note',
        sql: 'ALTER TABLE "task" ADD COLUMN "note" TEXT;',
      },
    ])
    assert.deepEqual(rows(path, 'SELECT * FROM task'), [{_id: 1, title: 'a', note: null}])
  })

  for (const [type, definition] of [
    ['int', 'INTEGER NOT NULL DEFAULT 0'],
    ['float', 'REAL NOT NULL DEFAULT 0'],
    ['bool', 'INTEGER NOT NULL DEFAULT 0'],
    ['str', "TEXT NOT NULL DEFAULT ''"],
    ['dec', "TEXT NOT NULL DEFAULT '0'"],
    ['bytes', "BLOB NOT NULL DEFAULT X''"],
    ['Id[Task]', 'INTEGER NOT NULL DEFAULT 0'],
    ['List[int]', "TEXT NOT NULL DEFAULT '[]'"],
    ['Set[str]', "TEXT NOT NULL DEFAULT '[]'"],
    ['Map[str, int]', "TEXT NOT NULL DEFAULT '{}'"],
  ] as const)
    it(`of type ${type} is added to an empty table even if required`, async (t) => {
      const path = await database(t, task('title: str'))
      const {steps} = await migrated(path, task(`title: str, more: ${type}`))
      assert.equal(steps[0]?.sql, `ALTER TABLE "task" ADD COLUMN "more" ${definition};`)
    })

  for (const [name, type] of [
    ['a record', 'Place'],
    ['one of a sum', 'State'],
    ['a tuple', '(int, str)'],
  ] as const)
    it(`that is ${name} rebuilds an empty table, with all its other changes`, async (t) => {
      const types = 'type Place { room: str }\ntype State = | Open | Shut(why: str)\n'
      const path = await database(t, task('title: str, day: str, old: str'))
      const source = types + task(`title: str, day: int, more: ${type}`)
      const {steps, applied} = await migrate(program(source), path, decide({drops: ['Task.old']}))
      assert.deepEqual(
        steps.map(({action, class: kind, blocking}) => [action, kind, blocking]),
        [
          ['rebuild_table', 'auto', false],
          ['drop_column', 'manual', true],
        ],
      )
      assert.equal(applied, 2)
      assert.equal((await migrate(program(source), path)).up_to_date, true)
    })

  it('that is required needs a value if there are rows, and does not delay other safe steps', async (t) => {
    const path = await database(t, task('title: str'), `INSERT INTO task (title) VALUES ('a')`)
    const next = program(task('title: str, note: Option[str], priority: int'))
    const report = await migrate(next, path, {safeSteps: true})
    assert.deepEqual(without(report.steps).slice(1), [
      {
        action: 'add_column',
        class: 'needs_default',
        blocking: true,
        table: 'task',
        column: 'priority',
        resolve_with: '--default Task.priority=0',
      },
    ])
    assert.deepEqual([report.up_to_date, report.applied, report.left], [false, 1, 1])
    assert.equal(blockingSteps(report, noDecisions, next).length, 1)
    assert.deepEqual(rows(path, 'SELECT * FROM task'), [{_id: 1, title: 'a', note: null}])
  })

  it('uses --default for old rows; the remaining DEFAULT is not a difference', async (t) => {
    const path = await database(t, task('title: str'), `INSERT INTO task (title) VALUES ('a'), ('b')`)
    const source = `type Place { room: str }
@table type Task { title: str, priority: int, note: str, tags: List[str], place: Place, exact: dec, open: bool, data: bytes }`
    const defaults = [
      'Task.priority=3',
      `Task.note="it's ; -- \\"quoted\\""`,
      'task.tags=["x","y"]',
      'Task.place={"room":"A"}',
      'Task.exact="1.50"',
      'Task.open=true',
      'Task.data="AAE="',
    ]
    const {steps} = await migrated(path, source, decide({defaults}))
    assert.ok(steps.every((step) => step.class === 'needs_default'))
    const filled = {
      priority: 3,
      note: `it's ; -- "quoted"`,
      tags: '["x","y"]',
      place: '{"room":"A"}',
      exact: '1.50',
      open: 1,
      data: Buffer.from([0, 1]),
    }
    assert.deepEqual(rows(path, 'SELECT * FROM task'), [
      {_id: 1, title: 'a', ...filled},
      {_id: 2, title: 'b', ...filled},
    ])
    const required = `SELECT name FROM pragma_table_info('task') WHERE "notnull" = 1`
    assert.deepEqual(values(path, required), ['title', ...Object.keys(filled)])
    assert.match(String(values(path, `SELECT sql FROM sqlite_schema WHERE name = 'task'`)[0]), /NOT NULL DEFAULT 3/)
  })

  for (const [value, fault] of [
    ['Task.priority', /--default Task\.priority: it is not of the form Table\.column=json/],
    ['priority=1', /it is not of the form Table\.column=json/],
    ['Task.priority=high', /the value is not JSON; quote text with "/],
    ['Task.priority=', /the value is not JSON/],
    ['Task.priority="high"', /the value must be int/],
    ['Task.priority=1.5', /the value must be int/],
    ['Task.priority=9007199254740992', /the value must be int/],
    ['Task.priority=null', /the value must be int/],
    ['Task.priority=[1]', /the value must be int/],
    ['Task.urgency=1', /table Task has no column urgency/],
    ['Chore.priority=1', /the program declares no table Chore/],
  ] as const)
    it(`rejects --default ${value}`, async (t) => {
      const path = await database(t, task('title: str'), `INSERT INTO task (title) VALUES ('a')`)
      await refused(path, task('title: str, priority: int'), decide({defaults: [value]}), 'migration_choice', fault)
    })
})

describe('a column name with a different case', () => {
  it('is renamed, so that the program finds its values', async (t) => {
    const path = await database(t, task('Title: str'), `INSERT INTO task (Title) VALUES ('a')`)
    const source = task('title: str', '@endpoint(kind: query) fn all() to List[Task] { return db.Task.all() }')
    const {steps} = await migrated(path, source)
    assert.deepEqual(without(steps), [
      {
        action: 'change_column',
        class: 'auto',
        blocking: false,
        table: 'task',
        column: 'title',
        from: 'Title',
        to: 'title',
      },
    ])
    assert.deepEqual(await query(path, source, 'all'), [{_id: 1, title: 'a'}])
  })
})

describe('a required column that becomes nullable', () => {
  it('stays required until --rebuild, without blocking', async (t) => {
    const path = await database(t, task('title: str, note: str'), `INSERT INTO task (title, note) VALUES ('a', 'b')`)
    const next = program(task('title: str, note: Option[str]'))
    const report = await migrate(next, path)
    assert.deepEqual(report.steps, [
      {
        action: 'change_column',
        class: 'rebuild',
        blocking: false,
        table: 'task',
        column: 'note',
        from: 'TEXT NOT NULL',
        to: 'TEXT',
        resolve_with: '--rebuild Task',
      },
    ])
    assert.deepEqual([report.applied, report.left, blockingSteps(report, noDecisions, next)], [0, 1, []])
  })

  it('accepts NULL after --rebuild and preserves its values', async (t) => {
    const path = await database(t, task('title: str, note: str'), `INSERT INTO task (title, note) VALUES ('a', 'b')`)
    await migrated(path, task('title: str, note: Option[str]'), decide({rebuilds: ['Task']}))
    execute(path, `INSERT INTO task (title) VALUES ('c')`)
    assert.deepEqual(rows(path, 'SELECT * FROM task'), [
      {_id: 1, title: 'a', note: 'b'},
      {_id: 2, title: 'c', note: null},
    ])
  })
})

describe('a nullable column that becomes required', () => {
  const before = task('title: str, note: Option[str]')
  const after = task('title: str, note: str')

  it('blocks the program until its table is named', async (t) => {
    const path = await database(t, before)
    const next = program(after)
    const report = await migrate(next, path)
    const [step] = report.steps
    assert.deepEqual([step?.from, step?.to, step?.blocking], ['TEXT', 'TEXT NOT NULL', true])
    assert.equal(blockingSteps(report, noDecisions, next).length, 1)
    assert.equal(blockingSteps(report, {...noDecisions, rebuilds: ['Task']}, next).length, 0)
  })

  it('becomes required with --rebuild if every row has a value', async (t) => {
    const path = await database(t, before, `INSERT INTO task (title, note) VALUES ('a', 'b')`)
    await migrated(path, after, decide({rebuilds: ['task']}))
    assert.deepEqual(rows(path, 'SELECT * FROM task'), [{_id: 1, title: 'a', note: 'b'}])
    assert.throws(() => execute(path, `INSERT INTO task (title) VALUES ('c')`), /NOT NULL/)
  })

  it('needs --default for rows without a value', async (t) => {
    const path = await database(t, before, `INSERT INTO task (title, note) VALUES ('a', NULL), ('b', 'x'), ('c', NULL)`)
    const needed = /2 rows have no note; add --default Task\.note=<json>/
    await refused(path, after, decide({rebuilds: ['Task']}), 'migration_failed', needed)
    await migrated(path, after, decide({rebuilds: ['Task'], defaults: ['Task.note="none"']}))
    assert.deepEqual(values(path, 'SELECT note FROM task ORDER BY _id'), ['none', 'x', 'none'])
  })
})

describe('a column with a changed type', () => {
  it('blocks the program until its table is named', async (t) => {
    const path = await database(t, task('n: str'), `INSERT INTO task (n) VALUES ('1')`)
    const report = await migrate(program(task('n: int')), path)
    assert.deepEqual(report.steps, [
      {
        action: 'change_column',
        class: 'rebuild',
        blocking: true,
        table: 'task',
        column: 'n',
        from: 'TEXT NOT NULL',
        to: 'INTEGER NOT NULL',
        resolve_with: '--rebuild Task',
      },
    ])
    assert.deepEqual(values(path, 'SELECT n FROM task'), ['1'])
  })

  for (const [from, to, stored, value, kind] of [
    ['str', 'int', "'42'", 42, 'integer'],
    ['str', 'int', "'-7'", -7, 'integer'],
    ['str', 'bool', "'1'", 1, 'integer'],
    ['str', 'float', "'1.50'", 1.5, 'real'],
    ['str', 'float', "'-2e3'", -2000, 'real'],
    ['dec', 'float', "'0.25'", 0.25, 'real'],
    ['int', 'float', '3', 3, 'real'],
    ['int', 'str', '3', '3', 'text'],
    ['int', 'dec', '3', '3', 'text'],
    ['float', 'int', '3.0', 3, 'integer'],
    ['float', 'str', '0.1', '0.1', 'text'],
    ['bool', 'str', '1', '1', 'text'],
    ['str', 'bytes', undefined, undefined, undefined],
  ] as const)
    it(`converts ${stored ?? 'an empty table'} of ${from} to ${to}`, async (t) => {
      const path = await database(t, task(`n: ${from}`))
      if (stored !== undefined) execute(path, `INSERT INTO task (n) VALUES (${stored})`)
      await migrated(path, task(`n: ${to}`), decide({rebuilds: ['Task']}))
      const found = stored === undefined ? [] : [{n: value, kind}]
      assert.deepEqual(rows(path, 'SELECT n, typeof(n) AS kind FROM task'), found)
    })

  for (const [from, to, stored] of [
    ['str', 'int', "'many'"],
    ['str', 'int', "''"],
    ['str', 'int', "'007'"],
    ['str', 'int', "'1.5'"],
    ['str', 'int', "'9007199254740993'"],
    ['str', 'bool', "'2'"],
    ['str', 'bool', "'true'"],
    ['str', 'float', "'1-2'"],
    ['str', 'float', "'1.5.2'"],
    ['str', 'float', "'1e999'"],
    ['str', 'float', "' '"],
    ['float', 'int', '1.5'],
    ['float', 'int', '1e17'],
    ['float', 'dec', '1e21'],
    ['int', 'List[int]', '5'],
    ['str', 'bytes', "'AAE='"],
    ['bytes', 'str', "X'4142'"],
  ] as const)
    it(`fails if ${stored} of ${from} would become ${to}`, async (t) => {
      const path = await database(
        t,
        task(`title: str, n: ${from}`),
        `INSERT INTO task (title, n) VALUES ('a', ${stored})`,
      )
      const lost = /1 value of n cannot be converted from (TEXT|INTEGER|REAL|BLOB) to /
      await refused(
        path,
        task(`title: int, n: ${to}`),
        decide({rebuilds: ['Task']}),
        'migration_failed',
        /converted from/,
      )
      await refused(path, task(`title: str, n: ${to}`), decide({rebuilds: ['Task']}), 'migration_failed', lost)
    })

  it('counts the values that cannot be converted, and ignores NULL', async (t) => {
    const path = await database(t, task('n: Option[str]'), `INSERT INTO task (n) VALUES ('1'), (NULL), ('x'), ('y')`)
    const lost = /2 values of n cannot be converted from TEXT to int/
    await refused(path, task('n: Option[int]'), decide({rebuilds: ['Task']}), 'migration_failed', lost)
    execute(path, `DELETE FROM task WHERE n IN ('x', 'y')`)
    await migrated(path, task('n: Option[int]'), decide({rebuilds: ['Task']}))
    assert.deepEqual(values(path, 'SELECT n FROM task'), [1, null])
  })
})

describe('a rebuilt table', () => {
  const rebuild = decide({rebuilds: ['Task']})

  it('preserves its ids and never reuses one', async (t) => {
    const path = await database(
      t,
      task('n: str'),
      `INSERT INTO task (n) VALUES ('1'), ('2'), ('3'), ('4')`,
      'DELETE FROM task WHERE _id IN (2, 4)',
    )
    await migrated(path, task('n: int'), rebuild)
    assert.deepEqual(rows(path, 'SELECT * FROM task'), [
      {_id: 1, n: 1},
      {_id: 3, n: 3},
    ])
    execute(path, 'INSERT INTO task (n) VALUES (5)')
    assert.deepEqual(rows(path, 'SELECT * FROM task WHERE n = 5'), [{_id: 5, n: 5}])
  })

  it('never reuses an id even after all rows are deleted', async (t) => {
    const path = await database(t, task('n: str'), `INSERT INTO task (n) VALUES ('1'), ('2')`, 'DELETE FROM task')
    await migrated(path, task('n: int'), rebuild)
    execute(path, 'INSERT INTO task (n) VALUES (3)')
    assert.deepEqual(values(path, 'SELECT _id FROM task'), [3])
  })

  it('preserves undeclared columns and their data', async (t) => {
    const path = await database(
      t,
      task('n: str'),
      'ALTER TABLE task ADD COLUMN "by hand" TEXT',
      'ALTER TABLE task ADD COLUMN level INTEGER NOT NULL DEFAULT 7',
      `INSERT INTO task (n, "by hand") VALUES ('1', 'kept')`,
    )
    assert.equal((await migrate(program(task('n: int')), path, rebuild)).left, 2)
    execute(path, 'INSERT INTO task (n) VALUES (2)')
    assert.deepEqual(rows(path, 'SELECT * FROM task'), [
      {_id: 1, n: 1, 'by hand': 'kept', level: 7},
      {_id: 2, n: 2, 'by hand': null, level: 7},
    ])
  })

  it('preserves a computed default', async (t) => {
    const path = await database(
      t,
      task('n: str'),
      'DROP TABLE task',
      `CREATE TABLE task (_id INTEGER PRIMARY KEY, n TEXT NOT NULL, made TEXT DEFAULT (date('2026-01-05')))`,
      `INSERT INTO task (n) VALUES ('1')`,
    )
    await migrate(program(task('n: int')), path, rebuild)
    execute(path, 'INSERT INTO task (n) VALUES (2)')
    assert.deepEqual(values(path, 'SELECT made FROM task'), ['2026-01-05', '2026-01-05'])
  })

  it('drops columns in the same step', async (t) => {
    const path = await database(
      t,
      task('n: str, owner: str, extra: str', '@index Task.by_owner on (owner)'),
      `INSERT INTO task (n, owner, extra) VALUES ('1', 'Ann', 'x')`,
    )
    const {applied, left} = await migrate(program(task('n: int')), path, {
      ...decide({rebuilds: ['Task'], drops: ['Task.owner']}),
      safeSteps: true,
    })
    assert.deepEqual([applied, left], [3, 1])
    assert.deepEqual(rows(path, 'SELECT * FROM task'), [{_id: 1, n: 1, extra: 'x'}])
  })

  it('adds new columns', async (t) => {
    const path = await database(t, task('n: str'), `INSERT INTO task (n) VALUES ('1')`)
    const source = task('n: int, note: Option[str], level: int')
    const needed = /column level needs --default Task\.level=<json>/
    await refused(path, source, {...rebuild, safeSteps: true}, 'migration_failed', needed)
    await migrated(path, source, decide({rebuilds: ['Task'], defaults: ['Task.level=2']}))
    assert.deepEqual(rows(path, 'SELECT * FROM task'), [{_id: 1, n: 1, note: null, level: 2}])
    const [sql] = values(path, `SELECT sql FROM sqlite_schema WHERE name = 'task'`)
    assert.doesNotMatch(String(sql), /DEFAULT/)
  })

  it('preserves its indexes, including unique and search indexes', async (t) => {
    const indexes = `@index Task.by_n on (n)
@index Task.one_title on (title) unique
@search_index Task.by_text on (title, body)
@vector_index Task.by_place on (place) { dimensions: 2 }`
    const fields = 'title: str, body: str, place: List[float]'
    const path = await database(t, task(`n: str, ${fields}`, indexes))
    const insert = async (n: string, title: string) => {
      const connection = await connect(program(task(`n: str, ${fields}`, indexes)), path)
      const add = connection.database.prepare('INSERT INTO task (n, title, body, place) VALUES (?, ?, ?, ?)')
      add.run(n, title, `about ${title}`, '[1, 0]')
      connection.close()
    }
    await insert('1', 'foxes')
    await insert('2', 'birds')
    const source = task(`n: int, ${fields}`, indexes)
    await migrated(path, source, rebuild)

    const declared = values(
      path,
      `SELECT name FROM sqlite_schema WHERE type = 'index' AND name LIKE 'idx%' ORDER BY name`,
    )
    assert.deepEqual(declared, ['idx_task_by_n', 'idx_task_one_title'])
    const find = (word: string) => values(path, `SELECT rowid FROM task_by_text_fts('${word}') ORDER BY rowid`)
    assert.deepEqual([find('about'), find('birds')], [[1, 2], [2]])
    await insert('3', 'cats')
    await assert.rejects(insert('4', 'cats'), /UNIQUE/)
    assert.deepEqual(find('cats'), [3])
    const connection = await connect(program(source), path)
    const near = connection.database.prepare(`SELECT rowid FROM task_by_place_vec WHERE place MATCH '[1, 0]' AND k = 9`)
    assert.deepEqual(near.pluck().all().sort(), [1, 2, 3])
    connection.close()
  })

  it('gets new search and vector indexes that include its old rows', async (t) => {
    const path = await database(
      t,
      task('n: str, body: str, place: List[float]'),
      `INSERT INTO task (n, body, place) VALUES ('1', 'a fox', '[1, 0]')`,
    )
    const indexes = `@search_index Task.by_text on (body)\n@vector_index Task.by_place on (place) { dimensions: 2 }`
    const source = task('n: int, body: str, place: List[float]', indexes)
    await migrated(path, source, rebuild)
    const connection = await connect(program(source), path)
    const counted = connection.database.prepare(
      `SELECT (SELECT count(*) FROM task_by_text_fts('fox')) AS texts, (SELECT count(*) FROM task_by_place_vec) AS places`,
    )
    assert.deepEqual(counted.get(), {texts: 1, places: 1})
    connection.close()
  })

  it('preserves manually created indexes, triggers, views and references', async (t) => {
    const path = await database(
      t,
      task('n: str, title: str'),
      'CREATE UNIQUE INDEX mine ON task (title)',
      'CREATE TABLE _seen (title TEXT)',
      'CREATE TRIGGER noticed AFTER INSERT ON task BEGIN INSERT INTO _seen VALUES (new.title); END',
      'CREATE VIEW titles AS SELECT title FROM task',
      'CREATE TABLE _remark (task INTEGER REFERENCES task (_id) ON DELETE CASCADE, text TEXT)',
      `INSERT INTO task (n, title) VALUES ('1', 'a')`,
      `INSERT INTO _remark VALUES (1, 'mine')`,
    )
    await migrated(path, task('n: int, title: str'), rebuild)
    execute(path, `INSERT INTO task (n, title) VALUES (2, 'b')`)
    assert.deepEqual(values(path, 'SELECT title FROM _seen'), ['a', 'b'])
    assert.deepEqual(values(path, 'SELECT title FROM titles'), ['a', 'b'])
    assert.throws(() => execute(path, `INSERT INTO task (n, title) VALUES (3, 'b')`), /UNIQUE/)
    execute(path, 'PRAGMA foreign_keys = ON; DELETE FROM task WHERE _id = 1')
    assert.deepEqual(rows(path, 'SELECT * FROM _remark'), [])
  })

  it('is not rebuilt if a reference would lead nowhere', async (t) => {
    const path = await database(
      t,
      task('n: str'),
      'CREATE TABLE _remark (task INTEGER REFERENCES task (_id))',
      `INSERT INTO task (n) VALUES ('1')`,
      'PRAGMA foreign_keys = OFF; INSERT INTO _remark VALUES (9)',
    )
    await refused(
      path,
      task('n: int'),
      rebuild,
      'migration_failed',
      /row 1 of _remark does not refer to a row of Task\.$/,
    )
  })

  it('must be a table of the program', async (t) => {
    const path = await database(t, task('n: str'))
    const unknown = /--rebuild Chore: the program declares no table Chore/
    await refused(path, task('n: int'), decide({rebuilds: ['Chore']}), 'migration_choice', unknown)
  })
})

describe('an index', () => {
  const plain = task('title: str, day: int')
  const filled = `INSERT INTO task (title, day) VALUES ('a', 1), ('a', 2)`
  const indexes = (path: string) =>
    rows(path, `SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL`)

  it('is created when declared, and recreated when its columns change', async (t) => {
    const path = await database(t, plain, filled)
    const {steps} = await migrated(path, `${plain}@index Task.by on (day)`)
    assert.deepEqual(without(steps), [{action: 'create_index', class: 'auto', blocking: false, index: 'idx_task_by'}])
    const changed = await migrated(path, `${plain}@index Task.by on (title, day)`)
    assert.equal(
      changed.steps[0]?.sql,
      'DROP INDEX IF EXISTS "idx_task_by";\nCREATE INDEX IF NOT EXISTS "idx_task_by" ON "task" ("title", "day");',
    )
    assert.deepEqual(indexes(path), [
      {name: 'idx_task_by', sql: 'CREATE INDEX "idx_task_by" ON "task" ("title", "day")'},
    ])
  })

  it('becomes unique or non-unique', async (t) => {
    const path = await database(t, `${plain}@index Task.by on (day)`, filled)
    await migrated(path, `${plain}@index Task.by on (day) unique`)
    assert.throws(() => execute(path, filled), /UNIQUE/)
    await migrated(path, `${plain}@index Task.by on (day)`)
    execute(path, filled)
  })

  it('is dropped when no longer declared; a manually created index stays', async (t) => {
    const path = await database(t, `${plain}@index Task.by on (day)`, 'CREATE INDEX mine ON task (title)')
    const {steps} = await migrated(path, plain)
    assert.deepEqual(steps, [
      {
        action: 'drop_index',
        class: 'auto',
        blocking: false,
        index: 'idx_task_by',
        sql: 'DROP INDEX IF EXISTS "idx_task_by";',
      },
    ])
    assert.deepEqual(indexes(path), [{name: 'mine', sql: 'CREATE INDEX mine ON task (title)'}])
  })

  for (const [columns, reason] of [
    ['title', 'duplicate values of title in rows 1, 2, 4; rows 3, 5'],
    ['title, day', 'duplicate values of title, day in rows 1, 4'],
    ['exact', 'duplicate values of exact in rows 2, 3'],
  ] as const)
    it(`that is unique on ${columns} blocks while rows violate it, and reports them`, async (t) => {
      const fields = 'title: str, day: Option[int], exact: Option[dec]'
      const path = await database(
        t,
        task(fields),
        `INSERT INTO task (title, day, exact) VALUES ('a', 1, NULL), ('a', 2, '1.5'), ('b', NULL, '1.50'), ('a', 1, NULL), ('b', NULL, '2')`,
      )
      const source = task(`${fields}, note: Option[str]`, `@index Task.one on (${columns}) unique`)
      const planned = (await migrate(program(source), path, {dryRun: true})).steps[1]
      assert.deepEqual([planned?.class, planned?.blocking, planned?.reason], ['manual', true, reason])
      const report = await migrate(program(source), path, {safeSteps: true})
      assert.deepEqual([report.applied, report.left], [1, 1])
      assert.equal(blockingSteps(report, noDecisions, program(source)).length, 1)
      execute(path, 'DELETE FROM task WHERE _id > 2', `UPDATE task SET title = 'c', exact = '3' WHERE _id = 2`)
      await migrated(path, source)
    })

  it('that is unique reports the rows that a new value makes equal', async (t) => {
    const path = await database(t, plain, filled)
    const source = task('title: str, day: int, level: int', '@index Task.one on (level) unique')
    const options = decide({defaults: ['Task.level=1']})
    await refused(path, source, options, 'migration_failed', /index Task\.one: duplicate values of level in rows 1, 2/)
    assert.deepEqual(await readdir(dirname(path)), ['app.db'])
  })

  it('of a column that needs a value waits for it, without delaying other safe steps', async (t) => {
    const path = await database(t, plain, filled)
    const indexes = `@index Task.by_level on (level)\n@search_index Task.by_note on (note)\n@index Task.by_day on (day)`
    const source = task('title: str, day: int, level: int, note: str', indexes)
    const report = await migrate(program(source), path, {safeSteps: true})
    assert.deepEqual([report.applied, report.left], [1, 4])
    assert.deepEqual(
      blockingSteps(report, noDecisions, program(source)).map(({column}) => column),
      ['level', 'note'],
    )
    await migrated(path, source, decide({defaults: ['Task.level=1', 'Task.note="a fox"']}))
    assert.deepEqual(values(path, `SELECT rowid FROM task_by_note_fts('fox')`), [1, 2])
  })

  it('that was created manually stays, whatever its name', async (t) => {
    const path = await database(
      t,
      plain,
      ...filled.split(';'),
      `CREATE UNIQUE INDEX idx_task_part ON task (title) WHERE day > 1`,
      'CREATE INDEX idx_task_folded ON task (title COLLATE NOCASE, day DESC)',
      'CREATE VIRTUAL TABLE task_notes_fts USING fts5(text)',
      `INSERT INTO task_notes_fts VALUES ('kept')`,
      'CREATE TRIGGER task_notes_fts_ai AFTER INSERT ON task BEGIN INSERT INTO task_notes_fts VALUES (new.title); END',
    )
    await migrated(path, task('title: str, day: str'), decide({rebuilds: ['Task']}))
    execute(path, `INSERT INTO task (title, day) VALUES ('b', '1')`)
    assert.deepEqual(values(path, 'SELECT text FROM task_notes_fts'), ['kept', 'b'])
    assert.deepEqual(
      indexes(path).map((each) => (each as {name: string}).name),
      ['idx_task_part', 'idx_task_folded'],
    )
  })

  it('for text search includes existing rows', async (t) => {
    const path = await database(t, plain, filled)
    const find = (word: string) => values(path, `SELECT rowid FROM task_by_text_fts('${word}')`)
    await migrated(path, `${plain}@search_index Task.by_text on (title)`)
    assert.deepEqual(find('a'), [1, 2])
    const wider = task('title: str, day: int, body: Option[str]', '@search_index Task.by_text on (title, body)')
    await migrated(path, wider)
    execute(path, `UPDATE task SET body = 'fox' WHERE _id = 2`)
    assert.deepEqual([find('a'), find('fox')], [[1, 2], [2]])
    await migrate(program(plain), path)
    assert.deepEqual(values(path, `SELECT name FROM sqlite_schema WHERE name LIKE '%by_text%'`), [])
    execute(path, filled)
  })

  it('of vectors includes existing rows, and is rejected if their vectors have a different length', async (t) => {
    const vectors = task('place: List[float]')
    const path = await database(t, vectors, `INSERT INTO task (place) VALUES ('[1, 0]')`)
    const source = (dimensions: number) => `${vectors}@vector_index Task.by on (place) { dimensions: ${dimensions} }`
    const [step] = (await migrate(program(source(3)), path)).steps
    assert.deepEqual([step?.blocking, step?.reason], [true, 'place does not have 3 numbers in row 1'])
    await migrated(path, source(2))
    await migrated(path, vectors)
    assert.deepEqual(values(path, `SELECT name FROM sqlite_schema WHERE name LIKE '%_vec%'`), [])
  })
})

describe('a column that is no longer declared', () => {
  it('stays, and blocks the program if inserts would leave it NULL', async (t) => {
    const path = await database(t, task('title: str, owner: str'), `INSERT INTO task (title, owner) VALUES ('a', 'b')`)
    const next = program(task('title: str'))
    const report = await migrate(next, path)
    assert.deepEqual(report.steps, [
      {
        action: 'drop_column',
        class: 'manual',
        blocking: true,
        table: 'task',
        column: 'owner',
        sql: 'ALTER TABLE "task" DROP COLUMN "owner";',
        resolve_with: '--drop Task.owner',
      },
    ])
    assert.deepEqual([report.applied, report.left, report.backup], [0, 1, undefined])
    assert.equal(blockingSteps(report, noDecisions, next).length, 1)
    assert.equal(rows(path, 'SELECT owner FROM task').length, 1)
  })

  for (const [name, add] of [
    ['may be empty', 'owner TEXT'],
    ['has a default', `owner TEXT NOT NULL DEFAULT 'nobody'`],
  ] as const)
    it(`stays without blocking if it ${name}`, async (t) => {
      const path = await database(t, task('title: str'), `ALTER TABLE task ADD COLUMN ${add}`)
      const {steps, left} = await migrate(program(task('title: str')), path)
      assert.deepEqual([left, steps[0]?.action, steps[0]?.blocking], [1, 'drop_column', false])
    })

  for (const name of ['Task.owner', 'task.owner'])
    it(`is dropped by --drop ${name}, and the others stay`, async (t) => {
      const path = await database(
        t,
        task('title: str, owner: str, extra: str', '@index Task.by_owner on (owner)'),
        `INSERT INTO task (title, owner, extra) VALUES ('a', 'b', 'c')`,
      )
      const {left} = await migrate(program(task('title: str')), path, {...decide({drops: [name]}), safeSteps: true})
      assert.equal(left, 1)
      assert.deepEqual(rows(path, 'SELECT * FROM task'), [{_id: 1, title: 'a', extra: 'c'}])
    })

  for (const name of ['Task.title', 'Task.nothing', 'Task', 'Nothing', 'svc_data_migrations', 'sqlite_sequence', ''])
    it(`is not dropped by --drop ${name || "''"}`, async (t) => {
      const path = await database(t, task('title: str, owner: str'))
      const none = /no migration step drops it, because it is declared or does not exist/
      await refused(path, task('title: str'), decide({drops: [name]}), 'migration_choice', none)
    })
})

describe('a table that is no longer declared', () => {
  const both = `${task('title: str')}@table type OldNote { text: str }\n@index OldNote.by_text on (text)`

  it('stays with its rows, without blocking', async (t) => {
    const path = await database(t, both, `INSERT INTO old_note (text) VALUES ('a')`)
    const next = program(task('title: str'))
    const report = await migrate(next, path)
    assert.deepEqual(report.steps.at(-1), {
      action: 'drop_table',
      class: 'manual',
      blocking: false,
      table: 'old_note',
      sql: 'DROP TABLE "old_note";',
      resolve_with: '--drop old_note',
    })
    assert.deepEqual(blockingSteps(report, noDecisions, next), [])
    assert.equal(rows(path, 'SELECT * FROM old_note').length, 1)
  })

  it('is dropped by --drop', async (t) => {
    const path = await database(t, both, `INSERT INTO old_note (text) VALUES ('a')`)
    const {backup} = await migrated(path, task('title: str'), decide({drops: ['old_note']}))
    assert.deepEqual(values(path, `SELECT name FROM sqlite_schema WHERE name LIKE '%old_note%'`), [])
    assert.deepEqual(values(backup ?? '', 'SELECT text FROM old_note'), ['a'])
  })

  it('is dropped by --drop even if its name needs quoting', async (t) => {
    const path = await database(t, task('title: str'), 'CREATE TABLE "my ""old"" table" (x)')
    await migrated(path, task('title: str'), decide({drops: ['my "old" table']}))
  })
})

describe('tables that do not belong to a program', () => {
  it('are ignored, whatever they contain', async (t) => {
    const path = await database(t, task('title: str'))
    const names = ['svc_settings', 'codex_change_log', '_private', 'SVC_loud']
    execute(path, ...names.slice(0, 3).map((name) => `CREATE TABLE ${name} (x); INSERT INTO ${name} VALUES (1)`))
    execute(path, 'ANALYZE')
    assert.equal((await migrate(program(task('title: str')), path)).up_to_date, true)
    const {steps} = await migrated(path, task('title: str, note: Option[str]'))
    assert.equal(steps.length, 1)
    for (const name of names.slice(0, 3)) assert.deepEqual(values(path, `SELECT x FROM ${name}`), [1])
  })
})

describe('a migration', () => {
  const before = `@table type Task { title: str, n: str, owner: str }
@table type OldNote { text: str }
@index Task.by_owner on (owner)
@search_index Task.by_text on (title)`
  const filled = [
    `INSERT INTO task (title, n, owner) VALUES ('a fox', '1', 'Ann'), ('a bird', '2', 'Ann')`,
    `INSERT INTO old_note (text) VALUES ('old')`,
  ]
  /** One step of every kind; the unique index is the last step before the drops. */
  const after = (unique: string) => `@table type Task { title: str, n: int, note: Option[str], level: int }
@table type Person { name: str }
@index Person.by_name on (name)
@search_index Task.by_text on (title, note)
@index Task.one on (${unique}) unique`
  const decisions = decide({
    defaults: ['Task.level=1'],
    rebuilds: ['Task'],
    drops: ['Task.owner', 'old_note'],
  })

  it('applies all steps in order', async (t) => {
    const path = await database(t, before, ...filled)
    const {steps} = await migrated(path, after('title'), decisions)
    assert.deepEqual(
      steps.map(({action, table, column, index}) => [action, index ?? [table, column].filter(Boolean).join('.')]),
      [
        ['create_table', 'person'],
        ['add_column', 'task.note'],
        ['add_column', 'task.level'],
        ['change_column', 'task.n'],
        ['create_index', 'idx_person_by_name'],
        ['create_index', 'task_by_text_fts'],
        ['create_index', 'idx_task_one'],
        ['drop_index', 'idx_task_by_owner'],
        ['drop_column', 'task.owner'],
        ['drop_table', 'old_note'],
      ],
    )
    assert.deepEqual(rows(path, 'SELECT * FROM task'), [
      {_id: 1, title: 'a fox', n: 1, note: null, level: 1},
      {_id: 2, title: 'a bird', n: 2, note: null, level: 1},
    ])
  })

  it('changes nothing if a step fails', async (t) => {
    const path = await database(t, before, ...filled)
    await refused(path, after('level'), decisions, 'migration_failed', /duplicate values of level in rows 1, 2/)
  })

  it('changes nothing if the last statement fails', async (t) => {
    const path = await database(t, before, ...filled)
    const seen: string[] = []
    const onStatement = (sql: string) => {
      seen.push(sql)
      if (sql === 'COMMIT;') throw new Error('power is gone')
    }
    const was = contents(path)
    await assert.rejects(migrate(program(after('title')), path, {...decisions, onStatement}), /power is gone/)
    assert.deepEqual(contents(path), was)
    assert.deepEqual([seen[0], seen.at(-1)], ['BEGIN IMMEDIATE;', 'COMMIT;'])
  })

  it('lists its steps in a dry run and changes nothing', async (t) => {
    const path = await database(t, before, ...filled)
    const was = contents(path)
    const report = await migrate(program(after('title')), path, {...decisions, dryRun: true})
    assert.deepEqual([report.steps.length, report.applied, report.left, report.backup], [10, 0, 10, undefined])
    assert.deepEqual(contents(path), was)
    assert.deepEqual(await migrate(program(after('title')), path, {dryRun: true}), report)
  })

  it('backs up the database first, readable only by its owner', async (t) => {
    const path = await database(t, before, ...filled)
    const now = () => new Date('2026-01-05T10:20:30.456Z')
    const first = await migrate(program(`${before}\n@table type A { a: int }`), path, {now})
    assert.equal(first.backup, `${path}.backup-20260105T102030Z`)
    assert.equal((await stat(first.backup)).mode & 0o777, 0o600)
    const second = await migrate(program(after('title')), path, {...decisions, now})
    assert.equal(second.backup, `${path}.backup-20260105T102030Z-2`)
    assert.deepEqual(values(second.backup, 'PRAGMA integrity_check'), ['ok'])
    assert.deepEqual(values(second.backup, 'SELECT owner FROM task'), ['Ann', 'Ann'])
    assert.deepEqual(values(first.backup, `SELECT name FROM sqlite_schema WHERE name = 'a'`), [])
  })

  it('creates no backup if there is nothing to do', async (t) => {
    const path = await database(t, before, ...filled)
    assert.equal((await migrate(program(before), path)).backup, undefined)
    const undecided = before.replace('n: str', 'n: int').replace('owner: str', 'owner: str, level: int')
    assert.deepEqual([(await migrate(program(undecided), path)).left, await readdir(dirname(path))], [2, ['app.db']])
  })

  it('is recorded with the program digest and the applied steps', async (t) => {
    const path = await database(t, before, ...filled)
    await migrate(program(before), path)
    await migrate(program(after('title')), path, decisions)
    const [first, second, ...more] = rows(path, 'SELECT * FROM svc_data_migrations ORDER BY id') as {
      applied_at: string
      source_digest: string
      plan_json: string
    }[]
    assert.ok(first !== undefined && second !== undefined)
    assert.deepEqual(more, [])
    assert.match(first.applied_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.match(first.source_digest, /^[0-9a-f]{64}$/)
    assert.notEqual(first.source_digest, second.source_digest)
    const actions = (JSON.parse(second.plan_json) as Step[]).map(({action}) => action)
    assert.deepEqual([actions.length, actions[0], actions.at(-1)], [10, 'create_table', 'drop_table'])
  })

  it('repeats nothing if another process migrated first', async (t) => {
    const path = await database(t, task('title: str'))
    const source = task('title: str, note: Option[str]')
    const onStatement = (sql: string) => {
      if (sql === 'BEGIN IMMEDIATE;') execute(path, 'ALTER TABLE task ADD COLUMN note TEXT')
    }
    const {up_to_date: done, steps, applied} = await migrate(program(source), path, {onStatement})
    assert.deepEqual([done, steps, applied], [true, [], 0])
  })

  it('fails on a file that is not a database', async (t) => {
    const path = join(await temporaryFolder(t), 'app.db')
    await writeFile(path, 'this is a text, and no database at all. '.repeat(200))
    await assert.rejects(migrate(program(before), path), failure('store_damaged', /app\.db/))
  })
})
