import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {Application, checkProgram, ddl, formatSource, migrate, schemaDigest} from '../../src/lang/index.js'
import {temporaryFolder} from '../support/temporary.js'
import {database, decide, execute, migrated, program, query, refused, rows, values} from './databases.js'

/** Runs the tests of a program, each on an empty database. */
async function open(t: TestContext, source: string) {
  const path = join(await temporaryFolder(t), 'app.db')
  await migrated(path, source)
  const application = await Application.open(program(source), {path})
  t.after(() => application.close())
  return {
    path,
    async call(name: string, ...args: unknown[]) {
      const target = application.program.functions.find((made) => made.name === name)
      assert.ok(target)
      return (await application.call(target, args)).value
    },
  }
}

const firstError = (source: string) => checkProgram(source).diagnostics.find(({severity}) => severity === 'error')

describe('a column with on delete', () => {
  const source = `@table type User { name: str }
@table type Post { author: Id[User] on delete cascade, title: str }
@table type Note { post: Id[Post] on delete cascade, by: Option[Id[User]] on delete set_null }
@table type Bill { payer: Id[User] on delete restrict }
@endpoint(kind: query) fn posts() to List[Post] { db.Post.all().live("posts") }
@endpoint(kind: query) fn notes() to List[Note] { db.Note.all().live("notes") }
@endpoint(kind: mutation) fn fill() to Unit {
    let ann = db.User.insert({ name: "Ann" })
    let bo = db.User.insert({ name: "Bo" })
    let post = db.Post.insert({ author: ann, title: "a" })
    db.Note.insert({ post: post, by: bo })
    db.Note.insert({ post: db.Post.insert({ author: bo, title: "b" }), by: ann })
}
@endpoint(kind: mutation) fn remove(id: int) to bool { db.User.delete(id) }
@endpoint(kind: mutation) fn remove_all(name: str) to int { db.User.where({ name: { eq: name } }).delete() }
@endpoint(kind: mutation) fn bill(id: int) to Id[Bill] { db.Bill.insert({ payer: id }) }
`
  it('is declared in SQL with the action', () => {
    assert.match(
      ddl(program(source)).join('\n'),
      /"author" INTEGER NOT NULL CONSTRAINT "svc_reference_author" REFERENCES "user" \("_id"\) ON DELETE CASCADE,/,
    )
  })

  for (const [name, argument] of [
    ['remove', 1],
    ['remove_all', 'Ann'],
  ] as const)
    it(`deletes and changes the rows that refer to a row after ${name}, and records these changes`, async (t) => {
      const {path, call} = await open(t, source)
      await call('fill')
      execute(path, 'DELETE FROM codex_change_log')
      await call(name, argument)
      assert.deepEqual(rows(path, 'SELECT _id, title FROM post'), [{_id: 2, title: 'b'}])
      assert.deepEqual(rows(path, 'SELECT * FROM note'), [{_id: 2, post: 2, by: null}])
      const changes = rows(
        path,
        'SELECT entity_kind AS kind, entity_id AS id, change_kind AS did FROM codex_change_log',
      )
      assert.deepEqual(changes, [
        {kind: 'Post', id: '1', did: 'delete'},
        {kind: 'Note', id: '1', did: 'delete'},
        {kind: 'Note', id: '2', did: 'update'},
      ])
    })

  it('refuses to delete a row that others refer to with restrict, and a reference to no row', async (t) => {
    const {path, call} = await open(t, source)
    await call('fill')
    await call('bill', 1)
    await assert.rejects(call('remove', 1), {message: 'rows of Post or Note or Bill refer to this row of User'})
    await assert.rejects(call('bill', 9), {message: 'payer of Bill refers to a row that does not exist'})
    assert.deepEqual(values(path, 'SELECT count(*) FROM post'), [2])
  })

  it('is added to a table whose rows refer to rows, and removed', async (t) => {
    const plain = '@table type User { name: str }\n@table type Post { author: Id[User] }\n'
    const path = await database(
      t,
      plain,
      `INSERT INTO user (name) VALUES ('Ann')`,
      'INSERT INTO post (author) VALUES (1), (1)',
    )
    const linked = plain.replace('Id[User]', 'Id[User] on delete cascade')
    const report = await migrated(path, linked)
    assert.deepEqual(
      report.steps.map(({action, class: kind, table}) => [action, kind, table]),
      [['rebuild_table', 'auto', 'post']],
    )
    await migrated(path, plain)
    execute(path, 'PRAGMA foreign_keys = ON; DELETE FROM user')
    assert.deepEqual(values(path, 'SELECT count(*) FROM post'), [2])
    assert.deepEqual(values(path, `SELECT sql LIKE '%REFERENCES%' FROM sqlite_schema WHERE name = 'post'`), [0])
    const blocked = await migrate(program(linked), path)
    assert.deepEqual(
      blocked.steps.map(({blocking, reason, resolve_with: resolve}) => [blocking, reason, resolve]),
      [[true, 'rows 1, 2 do not refer to a row of User', '--using Post.author=<expression>']],
    )
    await refused(
      path,
      linked,
      decide({usings: ['Post.author=old.author + 1']}),
      'migration_failed',
      /rows 1, 2 of Post do not refer to a row of User; add --using Post\.author=<expression>/,
    )
    execute(path, `INSERT INTO user (name) VALUES ('Bo')`)
    await migrated(path, linked, decide({usings: ['Post.author=2']}))
    assert.deepEqual(rows(path, 'SELECT * FROM post'), [
      {_id: 1, author: 2},
      {_id: 2, author: 2},
    ])
  })

  it('is added together with Option', async (t) => {
    const plain = '@table type User { name: str }\n@table type Post { author: Id[User] }\n'
    const path = await database(
      t,
      plain,
      `INSERT INTO user (name) VALUES ('Ann')`,
      'INSERT INTO post (author) VALUES (1)',
    )
    const {steps} = await migrated(path, plain.replace('Id[User]', 'Option[Id[User]] on delete set_null'))
    assert.deepEqual(
      steps.map(({action, class: kind}) => [action, kind]),
      [['rebuild_table', 'auto']],
    )
    execute(path, 'PRAGMA foreign_keys = ON; DELETE FROM user')
    assert.deepEqual(rows(path, 'SELECT * FROM post'), [{_id: 1, author: null}])
  })

  const faults = [
    ['n: int on delete cascade', /needs a column of type Id\[T\]/],
    ['u: Id[User] on delete drop', /restrict, cascade or set_null; found 'drop'/],
    ['u: Id[User] on delete set_null', /needs a column of type Option\[Id\[User\]\]/],
  ] as const
  for (const [column, message] of faults)
    it(`refuses ${column}`, () => {
      const error = firstError(`@table type User { name: str }\n@table type T { ${column} }\n`)
      assert.equal(error?.code, 'typecheck.on_delete')
      assert.match(error.message, message)
    })
})

describe('a column with a check', () => {
  const source = `type Size = | Small | Large
const most = 10
@table type Item {
    name: str check(name.len() > 0 and not name.contains("!"))
    stock: int = 1 check(stock >= 0 and stock <= most * 2)
    price: dec check(price > 0.00dec)
    sold: Option[int] check(sold <= stock)
    even: int = 2 check(even % 2 is 0 and -even < 1)
    fresh: bool = true check(fresh or stock is 0)
}
@endpoint(kind: mutation) fn add(name: str, stock: int, price: dec, sold: Option[int]) to Id[Item] {
    db.Item.insert({ name: name, stock: stock, price: price, sold: sold })
}
@endpoint(kind: mutation) fn attempt(stock: int) to str {
    match db.Item.update(1, { stock: stock }) { Ok(_) => "ok", Error(e) => "no" }
}
`
  it('accepts rows that meet it or have no value, and refuses others with the condition', async (t) => {
    const {call} = await open(t, source)
    await call('add', 'a', 3, '0.01', null)
    await call('add', 'a', 20, '100', 20)
    const faults = [
      [['', 3, '1', null], 'name does not meet check(name.len() > 0 and not name.contains("!"))'],
      [['a!', 3, '1', null], 'name does not meet check(name.len() > 0 and not name.contains("!"))'],
      [['a', -1, '1', null], 'stock does not meet check(stock >= 0 and stock <= most * 2)'],
      [['a', 21, '1', null], 'stock does not meet check(stock >= 0 and stock <= most * 2)'],
      [['a', 1, '0.000', null], 'price does not meet check(price > 0.00dec)'],
      [['a', 1, '-5', null], 'price does not meet check(price > 0.00dec)'],
      [['a', 1, '1', 2], 'sold does not meet check(sold <= stock)'],
    ] as const
    for (const [args, message] of faults) await assert.rejects(call('add', ...args), {message})
    assert.equal(await call('attempt', -1), 'no')
    assert.equal(await call('attempt', 2), 'ok')
  })

  it('is migrated if the rows meet it, and blocks with the rows that do not', async (t) => {
    const before = '@table type Item { name: str, stock: int }\n'
    const after = '@table type Item { name: str, stock: int check(stock > 0), left: int = 5 check(left > 1) }\n'
    const path = await database(t, before, `INSERT INTO item (name, stock) VALUES ('a', 1), ('b', 0), ('c', 2)`)
    const report = await migrate(program(after), path)
    assert.deepEqual(
      [report.applied, report.steps.find(({blocking}) => blocking)?.reason],
      [0, 'row 2 does not meet check(stock > 0)'],
    )
    await migrated(path, after, decide({usings: ['Item.stock=old.stock + 1']}))
    assert.deepEqual(rows(path, 'SELECT * FROM item WHERE _id = 2'), [{_id: 2, name: 'b', stock: 1, left: 5}])
    assert.throws(() => execute(path, 'UPDATE item SET stock = 0'), /CHECK constraint failed: svc_check_stock/)
    const looser = after.replace('stock > 0', 'stock >= 0')
    const {steps} = await migrated(path, looser)
    assert.deepEqual(
      steps.map(({action, class: kind}) => [action, kind]),
      [['rebuild_table', 'auto']],
    )
    execute(path, 'UPDATE item SET stock = 0')
  })

  const faults = [
    ['s: str check(s.trim() is "a")', 'typecheck.condition'],
    ['n: int check(f(n))', 'typecheck.condition'],
    ['n: int check(n / 2 is 1)', 'typecheck.condition'],
    ['n: int check(n % 0 is 1)', 'typecheck.condition'],
    ['n: int check(n + 1)', 'typecheck.mismatch'],
    ['n: int check(m > 1)', 'typecheck.undefined'],
    ['n: int check(n > "a")', 'typecheck.operator'],
    ['n: int check(n > 1) check(n < 3)', 'parse.unexpected_token'],
  ] as const
  for (const [column, code] of faults)
    it(`refuses ${column}`, () => {
      const source = `@table type T { ${column} }\nfn f(n: int) to bool { n > 1 }\n`
      assert.equal(firstError(source)?.code, code)
    })

  it('is written by the formatter as it is read', () => {
    const text = `@table type T {
    a: Id[T] on delete restrict unique
    b: int = 2 check(b > 1) unique
    check: int
    on: str
}
@index T.few on (b) unique where (b < 5)
`
    assert.equal(formatSource(text), text)
    assert.deepEqual(
      program(text).tables[0]?.columns.map(({name}) => name),
      ['a', 'b', 'check', 'on'],
    )
  })
})

describe('a partial index', () => {
  const before = '@table type Task { title: str, done: bool }\n'
  const after = `${before}@index Task.open on (title) unique where (not done)\n`

  it('holds only the rows that meet its condition', async (t) => {
    const path = await database(t, before, `INSERT INTO task (title, done) VALUES ('a', 0), ('a', 1), ('a', 1)`)
    await migrated(path, after)
    assert.deepEqual(values(path, `SELECT sql FROM sqlite_schema WHERE name = 'idx_task_open'`), [
      'CREATE UNIQUE INDEX "idx_task_open" ON "task" ("title") WHERE (NOT ("done"))',
    ])
    assert.throws(() => execute(path, `INSERT INTO task (title, done) VALUES ('a', 0)`), /UNIQUE/)
    execute(path, `INSERT INTO task (title, done) VALUES ('a', 1)`)
    await migrated(path, after.replace('not done', 'title is "a" and not done'))
    await migrated(path, before)
    assert.deepEqual(values(path, `SELECT name FROM sqlite_schema WHERE type = 'index'`), [])
  })

  it('blocks with the rows that have the same values', async (t) => {
    const path = await database(t, before, `INSERT INTO task (title, done) VALUES ('a', 0), ('a', 1), ('a', 0)`)
    const report = await migrate(program(after), path)
    assert.deepEqual(
      report.steps.map(({reason}) => reason),
      ['duplicate values of title in rows 1, 3'],
    )
  })

  it('is not the key of upsert, because it does not know all rows', () => {
    const error = firstError(`${after}fn f() to int { db.Task.upsert({ title: "a", done: true }) }\n`)
    assert.equal(error?.code, 'typecheck.unknown_method')
  })
})

describe('a column that the store sets', () => {
  const source = `type Draft { title: str }
@table type Post {
    title: str unique
    views: int = 0
    made: int @created_at
    changed: Option[int] @updated_at
    day: DateTime @created_at
}
@endpoint(kind: mutation) fn add(title: str) to Id[Post] { db.Post.insert({ title: title }) }
@endpoint(kind: mutation) fn draft() to Id[Post] { db.Post.insert(Draft { title: "d" }) }
@endpoint(kind: mutation) fn view(id: int) to bool { db.Post.update(id, { views: { increment: 1 } }) }
@endpoint(kind: mutation) fn view_all() to int { db.Post.where({ views: { gte: 0 } }).update({ views: 7 }) }
@endpoint(kind: mutation) fn put(title: str) to Id[Post] { db.Post.upsert({ title: title, views: 9 }) }
@endpoint(kind: mutation) fn put_counting(title: str) to Id[Post] {
    db.Post.upsert({ title: title }, { views: { increment: 1 } })
}
@endpoint(kind: mutation) fn copy(id: int) to Id[Post] {
    let post = db.Post.get(id).unwrap()
    db.Post.delete(id)
    db.Post.insert(post)
}
`
  it('gets the time of the insertion, and of each change', async (t) => {
    const {path, call} = await open(t, source)
    const start = Date.now()
    await call('add', 'a')
    await call('draft')
    const all = rows(path, 'SELECT * FROM post') as {made: number; changed: number; day: string}[]
    for (const {made, changed, day} of all) {
      assert.ok(made >= start && made === changed && made <= Date.now())
      assert.ok(Date.parse(day) >= start && Date.parse(day) <= Date.now(), day)
    }
    // Every write to this row sets one time and leaves the other.
    const old = 'UPDATE post SET made = 5, changed = 6'
    for (const [name, argument] of [['view', 1], ['view_all'], ['put', 'a'], ['put_counting', 'a']] as const) {
      execute(path, old)
      await call(name, ...(argument === undefined ? [] : [argument]))
      const [row] = rows(path, 'SELECT made, changed FROM post WHERE _id = 1') as {made: number; changed: number}[]
      assert.equal(row?.made, 5, name)
      assert.ok((row?.changed ?? 0) >= start, name)
    }
    execute(path, old)
    await call('copy', 1)
    assert.ok((values(path, `SELECT min(made) FROM post WHERE title = 'a'`)[0] as number) >= start)
  })

  const faults = [
    ['s: str @created_at', '', 'typecheck.mismatch'],
    ['n: int = 1 @created_at', '', 'typecheck.stamp'],
    ['n: int @created_at', 'db.T.update(1, { n: 2 })', 'typecheck.stamp'],
    ['n: int @created_at, s: str', 'db.T.insert(R { s: "a", n: 1 })', 'typecheck.stamp'],
  ] as const
  for (const [columns, body, code] of faults)
    it(`refuses ${columns} ${body}`, () => {
      const text = `type R { s: str, n: int }\n@table type T { ${columns} }\n@test fn f() { ${body} }\n`
      assert.equal(firstError(text)?.code, code)
    })

  it('needs values for the rows of an existing table', async (t) => {
    const path = await database(t, '@table type Post { title: str }\n', `INSERT INTO post (title) VALUES ('a')`)
    const after = '@table type Post { title: str, made: int @created_at }\n'
    assert.equal((await migrate(program(after), path)).steps[0]?.class, 'needs_default')
    await migrated(path, after, decide({usings: ['Post.made=old.title.len() * 1000']}))
    assert.deepEqual(rows(path, 'SELECT * FROM post'), [{_id: 1, title: 'a', made: 1000}])
  })
})

describe('a column of variants without fields', () => {
  const source = `type Level = | Low | Mid | High
@table type Task { level: Level, next: Option[Level], seen: List[Level] = [Low] }
@index Task.by_level on (level, next)
@endpoint(kind: mutation) fn fill() to Unit {
    for level in [High, Low, Mid] { db.Task.insert({ level: level }) }
    db.Task.insert({ level: Low, next: Some(High) })
}
@endpoint(kind: query) fn sorted() to List[int] { db.Task.all().order_by(level, desc).map(t => t._id) }
@endpoint(kind: query) fn by_next() to List[int] { db.Task.all().order_by(next).order_by(level).map(t => t._id) }
@endpoint(kind: query) fn some(level: Level) to List[int] {
    db.Task.where({ or: [{ level: { eq: level } }, { next: { in: [level] } }] }).map(t => t._id)
}
@endpoint(kind: query) fn pages() to List[List[int]] {
    let mut found: List[List[int]] = []
    let mut after: Option[str] = None
    loop {
        let part = db.Task.order_by(next, desc).order_by(level).page(1, after)
        found = found + [part.items.map(t => t._id)]
        after = part.next
        if after is None { return found }
    }
}
@endpoint(kind: query) fn groups() to List[Level] {
    db.Task.group_by(level).aggregate({ n: count() }).order_by(level).map(g => g.level)
}
`
  it('is stored as text that the database checks', async (t) => {
    const {path, call} = await open(t, source)
    await call('fill')
    assert.deepEqual(rows(path, 'SELECT * FROM task WHERE _id > 2'), [
      {_id: 3, level: 'Mid', next: null, seen: '[{"_tag":"Low"}]'},
      {_id: 4, level: 'Low', next: 'High', seen: '[{"_tag":"Low"}]'},
    ])
    assert.throws(() => execute(path, `UPDATE task SET level = 'Top'`), /CHECK constraint failed: svc_enum_level/)
    assert.deepEqual(await call('some', {_tag: 'High'}), [1, 4])
  })

  it('has the order of the declaration', async (t) => {
    const {call} = await open(t, source)
    await call('fill')
    assert.deepEqual(await call('sorted'), [1, 3, 2, 4])
    assert.deepEqual(await call('by_next'), [2, 3, 1, 4])
    assert.deepEqual(await call('pages'), [[4], [2], [3], [1]])
    assert.deepEqual(await call('groups'), [{_tag: 'Low'}, {_tag: 'Mid'}, {_tag: 'High'}])
  })

  /** As svc created it when variants without fields were stored as JSON. */
  const earlier = (declared: string, ...values: string[]) => [
    `CREATE TABLE "task" (\n  "_id" INTEGER PRIMARY KEY AUTOINCREMENT,\n  "title" TEXT NOT NULL,\n  "state" TEXT NOT NULL,\n  "next" TEXT\n)`,
    `CREATE UNIQUE INDEX "idx_task_by_state" ON "task" (json_extract("state",'$._tag'), "title")`,
    `CREATE TABLE svc_data_columns (
  table_name TEXT NOT NULL COLLATE NOCASE,
  column_name TEXT NOT NULL COLLATE NOCASE,
  declared TEXT NOT NULL,
  PRIMARY KEY (table_name, column_name)
) WITHOUT ROWID`,
    ...(declared === ''
      ? []
      : [
          `INSERT INTO svc_data_columns VALUES ('task', 'title', 'str'), ('task', 'state', '${declared}'), ('task', 'next', '${declared}')`,
        ]),
    ...values.map((value) => `INSERT INTO task (title, state, next) VALUES ('a', '${value}', '${value}')`),
    `UPDATE task SET next = NULL WHERE _id = 2`,
  ]
  const task = (type: string) => `type State = ${type}
@table type Task { title: str, state: State, next: Option[State] }
@index Task.by_state on (state, title) unique
@endpoint(kind: query) fn all() to List[Task] { db.Task.all() }
`
  const [open_, done] = ['{"_tag":"Open"}', '{"_tag":"Done"}']

  for (const declared of ['type State = | Open | Done\nState', ''])
    it(`is converted in a database of an earlier version ${declared === '' ? 'without' : 'with'} recorded types`, async (t) => {
      const path = await database(t, '', ...earlier(declared, open_, done))
      const {steps, backup} = await migrated(path, task('| Open | Done'))
      assert.deepEqual(
        steps.map(({action, class: kind, column, index}) => [action, kind, column ?? index]),
        [
          ['rebuild_table', 'auto', 'state'],
          ['rebuild_table', 'auto', 'next'],
          ['create_index', 'auto', 'idx_task_by_state'],
        ],
      )
      assert.ok(backup)
      assert.deepEqual(rows(path, 'SELECT * FROM task'), [
        {_id: 1, title: 'a', state: 'Open', next: 'Open'},
        {_id: 2, title: 'a', state: 'Done', next: null},
      ])
      assert.deepEqual(values(path, `SELECT sql FROM sqlite_schema WHERE name = 'idx_task_by_state'`), [
        'CREATE UNIQUE INDEX "idx_task_by_state" ON "task" ("state", "title")',
      ])
      assert.deepEqual(await query(path, task('| Open | Done'), 'all'), [
        {_id: 1, title: 'a', state: {_tag: 'Open'}, next: {_tag: 'Open'}},
        {_id: 2, title: 'a', state: {_tag: 'Done'}, next: null},
      ])
    })

  it('is converted when its variants change at the same time, unless a value would be lost', async (t) => {
    const declared = 'type State = | Open | Done\nState'
    const path = await database(t, '', ...earlier(declared, open_, done))
    await migrated(path, task('| Held | Done | Open'))
    await refused(
      path,
      task('| Open'),
      decide({rebuilds: ['Task']}),
      'migration_failed',
      /1 value of state .*\(row 2\)/,
    )
    await migrated(path, task('| Open'), decide({defaults: ['Task.state={"_tag":"Open"}'], usings: []})).then(
      () => assert.fail('duplicates of the unique index'),
      (error) => assert.match(String(error), /duplicate values of state, title|by_state/),
    )
  })

  it('can get fields, and lose them, and become text', async (t) => {
    const path = await database(t, '', ...earlier('type State = | Open | Done\nState', open_, done))
    await migrated(path, task('| Open | Done'))
    const wide = task('| Open | Done(on: Option[int])').replace(/@index.*\n/, '')
    await migrated(path, wide, decide({rebuilds: ['Task']}))
    assert.deepEqual(values(path, 'SELECT state FROM task ORDER BY _id'), [open_, done])
    await migrated(path, task('| Open | Done'), decide({rebuilds: ['Task']}))
    assert.deepEqual(values(path, 'SELECT state FROM task ORDER BY _id'), ['Open', 'Done'])
    await migrated(path, task('| Open | Done').replaceAll('State,', 'str,'), decide({rebuilds: ['Task']}))
    assert.deepEqual(values(path, 'SELECT state FROM task ORDER BY _id'), ['Open', 'Done'])
    await migrated(path, task('| Open | Done'), decide({rebuilds: ['Task']}))
    assert.throws(() => execute(path, `UPDATE task SET state = 'x'`), /svc_enum_state/)
  })

  it('blocks if a value is damaged', async (t) => {
    const path = await database(t, '', ...earlier('type State = | Open | Done\nState', open_, '{"_tag":"Lost"}'))
    const report = await migrate(program(task('| Open | Done')), path)
    assert.equal(report.applied, 0)
    assert.match(report.steps.find(({blocking}) => blocking)?.reason ?? '', /not of type State, in row 2/)
  })
})

describe('was', () => {
  const before = `type State = | Open | Done(by: str) | Lost
type Phase = | Begun | Ended
@table type User { name: str check(name.len() > 0), tags: List[str] }
@table type Job { owner: Id[User] on delete cascade, state: State, phase: Phase, text: str }
@index User.by_name on (name) unique
@index Job.by_phase on (phase) where (owner > 0)
@search_index Job.words on (text)
@endpoint(kind: query) fn find(word: str) to List[Job] { db.Job.where({ text: { matches: word } }) }
`
  const after = `type State = | Todo was Open | Closed(by: str) was Done | Lost
type Phase = | Started was Begun | Ended
@table type Person was User { title: str was name check(title.len() > 0), tags: List[str] }
@table type Task was Job { person: Id[Person] on delete cascade was owner, state: State, phase: Phase, body: str was text }
@index Person.by_name on (title) unique
@index Task.by_phase on (phase) where (person > 0)
@search_index Task.words on (body)
@endpoint(kind: query) fn fox() to List[Task] { db.Task.where({ body: { matches: "fox" } }) }
`
  const fill = [
    `INSERT INTO user (name, tags) VALUES ('Ann', '[]'), ('Bo', '["x"]')`,
    `INSERT INTO job (owner, state, phase, text) VALUES (1, '{"_tag":"Open"}', 'Begun', 'a fox'), (2, '{"_tag":"Done","by":"Al"}', 'Ended', 'b')`,
    'DELETE FROM user WHERE _id > 5',
  ]

  it('renames tables, columns and variants with their rows, indexes and references', async (t) => {
    const path = await database(t, before, ...fill)
    const {steps, backup} = await migrated(path, after)
    assert.deepEqual(
      steps.filter(({from}) => from !== undefined).map(({action, from, to}) => [action, from, to]),
      [
        ['rename_table', 'user', 'person'],
        ['change_column', 'name', 'title'],
        ['rename_table', 'job', 'task'],
        ['change_column', 'owner', 'person'],
        ['change_column', 'text', 'body'],
      ],
    )
    assert.ok(steps.every(({class: kind, blocking}) => kind === 'auto' && !blocking))
    assert.ok(backup)
    assert.deepEqual(rows(path, 'SELECT * FROM task'), [
      {_id: 1, person: 1, state: '{"_tag":"Todo"}', phase: 'Started', body: 'a fox'},
      {_id: 2, person: 2, state: '{"_tag":"Closed","by":"Al"}', phase: 'Ended', body: 'b'},
    ])
    const found = (await query(path, after, 'fox')) as {body: string}[]
    assert.deepEqual(
      found.map(({body}) => body),
      ['a fox'],
    )
    assert.throws(() => execute(path, `INSERT INTO person (title, tags) VALUES ('', '[]')`), /CHECK/)
    assert.throws(() => execute(path, `INSERT INTO person (title, tags) VALUES ('Bo', '[]')`), /UNIQUE/)
    execute(path, 'PRAGMA foreign_keys = ON; DELETE FROM person WHERE _id = 1')
    assert.deepEqual(values(path, 'SELECT _id FROM task'), [2])
    const names = values(path, `SELECT name FROM sqlite_schema WHERE name LIKE '%user%' OR name LIKE '%job%'`)
    assert.deepEqual(names, [])
    await migrated(path, after.replace(/ was \w+/g, ''))
  })

  it('renames and changes a column at once, or nothing if a value would be lost', async (t) => {
    const path = await database(t, '@table type User { age: str }\n', `INSERT INTO user (age) VALUES ('7'), ('old')`)
    const fresh = '@table type Person was User { years: int was age }\n'
    await refused(path, fresh, decide({rebuilds: ['Person']}), 'migration_failed', /1 value of years .*\(row 2\)/)
    execute(path, `UPDATE user SET age = '8' WHERE _id = 2`)
    await migrated(path, fresh, decide({rebuilds: ['Person']}))
    assert.deepEqual(values(path, 'SELECT years FROM person'), [7, 8])
  })

  const faults = [
    '@table type T { a: int, b: int was a }',
    '@table type T { b: int was a, c: int was a }',
    '@table type A { n: int }\n@table type B was A { n: int }',
    'type S = | A | B was A',
  ]
  for (const source of faults)
    it(`refuses ${source}`, () => assert.equal(firstError(`${source}\n`)?.code, 'typecheck.was'))

  it('can be the name of a column', () => {
    assert.deepEqual(
      program('@table type T { a: int was: int }\n').tables[0]?.columns.map(({name}) => name),
      ['a', 'was'],
    )
  })
})

describe('the schema digest', () => {
  it('has the conditions, references and times of columns', () => {
    const {tables, indexes} = schemaDigest(
      program(`@table type T { up: Option[Id[T]] on delete set_null, n: int check(n > 0), at: int @updated_at }
@index T.few on (n) where (n < 9)\n`),
    )
    assert.deepEqual(
      tables[0]?.fields.map(({on_delete: action, check, set_by_store: stamp}) => [action, check, stamp]),
      [
        ['set_null', undefined, undefined],
        [undefined, 'n > 0', undefined],
        [undefined, undefined, 'updated_at'],
      ],
    )
    assert.equal(tables[0]?.example_insert, 'db.T.insert({ n: 0 })')
    assert.equal(indexes[0]?.where, 'n < 9')
  })
})
