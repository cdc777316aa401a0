import assert from 'node:assert/strict'
import {on} from 'node:events'
import {copyFile, mkdir, readFile, rename, stat, symlink, truncate, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {execa} from 'execa'
import {type ErrorCode, Exit, isErrorOf, type SvcError} from '../../src/errors/index.js'
import {type Fragment, fragment, openStore, type Store, type StoreOptions} from '../../src/store/index.js'
import {temporaryFolder} from '../support/temporary.js'

const notes = fragment('notes', 'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT')
const door = new URL('../../src/store/index.js', import.meta.url).href

/** Opens a database in a temporary folder, closed when the test ends. */
async function open(test: TestContext, fragments: readonly Fragment[] = [notes], options?: StoreOptions) {
  const path = join(await temporaryFolder(test), '.svc', 'store.db')
  return reopen(test, path, fragments, options)
}

async function reopen(
  test: TestContext,
  path: string,
  fragments: readonly Fragment[] = [notes],
  options?: StoreOptions,
) {
  const store = await openStore(path, fragments, options)
  test.after(() => store.close())
  return store
}

const texts = (store: Store) => store.all<{text: string}>('SELECT text FROM notes ORDER BY id').map(({text}) => text)
const insert = (store: Store, text: string) => store.run('INSERT INTO notes (text) VALUES (?)', [text])
const tables = (store: Store) =>
  store
    .all<{name: string}>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'schema_fragments' ORDER BY name",
    )
    .map(({name}) => name)
const versions = (store: Store) =>
  Object.fromEntries(
    store
      .all<{name: string; version: number}>('SELECT name, version FROM schema_fragments')
      .map(({name, version}) => [name, version]),
  )

const failure = (code: ErrorCode, exit: number, message: RegExp) => (error: SvcError) => {
  assert.ok(isErrorOf(error, code), String(error))
  assert.equal(error.exit, exit)
  assert.match(error.message, message)
  return true
}

/** Starts another process that works on a database and prints a line at certain points. */
function elsewhere(test: TestContext, path: string, script: string) {
  const program = `
    const {openStore, fragment} = await import(${JSON.stringify(door)})
    const path = ${JSON.stringify(path)}
    const notes = ${JSON.stringify(notes)}
    const say = (line) => process.stdout.write(line + '\\n')
    ${script}
  `
  const running = execa(process.execPath, ['--input-type=module', '--eval', program], {reject: false})
  const lines = createInterface({input: running.stdout})
  test.after(() => running.kill('SIGKILL'))
  return {
    running,
    async said(line: string) {
      for await (const [heard] of on(lines, 'line', {close: ['close']})) if (heard === line) return
      assert.fail(`The other process ended: ${(await running).stderr}`)
    },
  }
}

describe('new database', () => {
  it('is created with its folder, readable only by the owner', async (t) => {
    const store = await open(t)
    insert(store, 'a')
    const mode = async (path: string) => (await stat(path)).mode & 0o777
    assert.equal(await mode(dirname(store.path)), 0o700)
    for (const file of [store.path, `${store.path}-wal`, `${store.path}-shm`])
      assert.equal(await mode(file), 0o600, file)
  })

  it('does not change the umask of the process', async (t) => {
    const store = await open(t)
    const other = join(dirname(store.path), 'report.txt')
    const before = process.umask()
    await writeFile(other, '')
    assert.equal((await stat(other)).mode & 0o777, 0o666 & ~before)
  })

  it('does not change an existing folder', async (t) => {
    const folder = join(await temporaryFolder(t), 'shared')
    await mkdir(folder, {mode: 0o755})
    const before = (await stat(folder)).mode
    await reopen(t, join(folder, 'store.db'))
    assert.equal((await stat(folder)).mode, before)
  })

  it('can be in memory', async (t) => {
    const store = await reopen(t, ':memory:')
    insert(store, 'a')
    assert.deepEqual(texts(store), ['a'])
  })
})

describe('open database', () => {
  it('uses WAL, foreign keys and synchronous = NORMAL by default', async (t) => {
    const store = await open(t)
    assert.deepEqual(store.get('PRAGMA journal_mode'), {journal_mode: 'wal'})
    assert.deepEqual(store.get('PRAGMA foreign_keys'), {foreign_keys: 1})
    assert.deepEqual(store.get('PRAGMA synchronous'), {synchronous: 1})
  })

  it('uses synchronous = FULL with durability: full', async (t) => {
    const store = await open(t, [notes], {durability: 'full'})
    assert.deepEqual(store.get('PRAGMA synchronous'), {synchronous: 2})
  })

  it('accepts positional and named parameters', async (t) => {
    const store = await open(t)
    insert(store, 'a')
    store.run('INSERT INTO notes (text) VALUES (:text)', {text: 'b'})
    assert.deepEqual(store.all('SELECT text FROM notes WHERE text = ?', ['a']), [{text: 'a'}])
    assert.deepEqual(store.get('SELECT text FROM notes WHERE text = :text', {text: 'b'}), {text: 'b'})
    assert.equal(store.get('SELECT text FROM notes WHERE text = ?', ['c']), undefined)
  })

  it('returns the number of changes and the last row id', async (t) => {
    const store = await open(t)
    assert.deepEqual(insert(store, 'a'), {changes: 1, lastInsertRowid: 1})
    insert(store, 'b')
    assert.equal(store.run("UPDATE notes SET text = text || '!'").changes, 2)
    assert.equal(store.run('DELETE FROM notes WHERE id = 99').changes, 0)
  })

  it('iterates over rows and can stop early', async (t) => {
    const store = await open(t)
    for (const text of ['a', 'b', 'c']) insert(store, text)
    const seen: string[] = []
    for (const {text} of store.iterate<{text: string}>('SELECT text FROM notes ORDER BY id')) {
      seen.push(text)
      if (text === 'b') break
    }
    assert.deepEqual(seen, ['a', 'b'])
    insert(store, 'd')
    assert.equal(texts(store).length, 4)
  })

  it('keeps its rows after reopening', async (t) => {
    const store = await open(t)
    insert(store, 'a')
    store.close()
    assert.deepEqual(texts(await reopen(t, store.path)), ['a'])
  })

  it('throws SQLite errors of invalid statements unchanged', async (t) => {
    const store = await open(t)
    insert(store, 'a')
    assert.throws(() => insert(store, 'a'), {code: 'SQLITE_CONSTRAINT_UNIQUE'})
    assert.throws(() => store.all('SELECT nothing FROM nowhere'), {code: 'SQLITE_ERROR'})
  })
})

describe('schema fragments', () => {
  const second = 'ALTER TABLE notes ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0'
  const newer = fragment('notes', ...notes.migrations, second)
  const tags = fragment('tags', 'CREATE TABLE tags (name TEXT PRIMARY KEY) STRICT')

  it('are applied once', async (t) => {
    const store = await open(t, [notes, tags])
    insert(store, 'a')
    store.close()
    const again = await reopen(t, store.path, [notes, tags])
    assert.deepEqual(tables(again), ['notes', 'tags'])
    assert.deepEqual(versions(again), {notes: 1, tags: 1})
    assert.deepEqual(texts(again), ['a'])
  })

  it('are upgraded without losing rows', async (t) => {
    const store = await open(t)
    insert(store, 'a')
    store.close()
    const again = await reopen(t, store.path, [newer])
    assert.deepEqual(again.all('SELECT text, pinned FROM notes'), [{text: 'a', pinned: 0}])
    assert.deepEqual(versions(again), {notes: 2})
  })

  it('can be added without changing others', async (t) => {
    const store = await open(t)
    store.close()
    const again = await reopen(t, store.path, [tags])
    assert.deepEqual(tables(again), ['notes', 'tags'])
    assert.deepEqual(versions(again), {notes: 1, tags: 1})
  })

  it('can contain several statements per migration', async (t) => {
    const store = await open(t, [
      fragment(
        'pair',
        "CREATE TABLE one (a TEXT) STRICT; INSERT INTO one VALUES ('x;y'); CREATE TABLE two (b TEXT) STRICT;",
      ),
    ])
    assert.deepEqual(tables(store), ['one', 'two'])
    assert.deepEqual(store.get('SELECT a FROM one'), {a: 'x;y'})
  })

  it('record the time of their application', async (t) => {
    const store = await open(t)
    const {applied_at: at} = store.get<{applied_at: string}>('SELECT applied_at FROM schema_fragments') ?? {
      applied_at: '',
    }
    assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  it('of a newer version are refused without changes', async (t) => {
    const store = await open(t, [newer])
    insert(store, 'a')
    store.close()
    await assert.rejects(
      openStore(store.path, [tags, notes]),
      failure('store_newer', Exit.conflict, /notes is at version 2, but this svc supports up to 1/),
    )
    const again = await reopen(t, store.path, [newer])
    assert.deepEqual(tables(again), ['notes'])
    assert.deepEqual(texts(again), ['a'])
  })

  it('change nothing if a migration fails', async (t) => {
    const store = await open(t)
    insert(store, 'a')
    store.close()
    const broken = fragment('notes', ...notes.migrations, second, 'UPDATE notes SET missing = 1')
    await assert.rejects(openStore(store.path, [tags, broken]), (error: SvcError) => {
      assert.ok(isErrorOf(error, 'store_migration_failed'))
      assert.ok(error.message.includes(store.path))
      assert.match(error.message, /no such column: missing/)
      return true
    })
    const again = await reopen(t, store.path)
    assert.deepEqual(tables(again), ['notes'])
    assert.deepEqual(versions(again), {notes: 1})
    assert.deepEqual(texts(again), ['a'])
  })

  it('are applied once by concurrent processes, in each of many new files', async (t) => {
    const folder = await temporaryFolder(t)
    const counted = fragment('counted', 'CREATE TABLE runs (n INTEGER) STRICT', 'INSERT INTO runs VALUES (1)')
    const others = Array.from({length: 6}, () =>
      elsewhere(
        t,
        folder,
        `
          process.stdin.on('data', async (name) => {
            const store = await openStore(path + '/' + name, [${JSON.stringify(counted)}])
            store.close()
            say('opened ' + name)
          })
          say('ready')
        `,
      ),
    )
    await Promise.all(others.map((other) => other.said('ready')))
    for (let file = 0; file < 30; file++) {
      for (const {running} of others) running.stdin?.write(`${file}.db`)
      await Promise.all(others.map((other) => other.said(`opened ${file}.db`)))
      const store = await reopen(t, join(folder, `${file}.db`), [counted])
      assert.deepEqual(store.all('SELECT n FROM runs'), [{n: 1}])
    }
    for (const {running} of others) running.kill('SIGKILL')
  })
})

describe('transaction', () => {
  it('returns the result and commits', async (t) => {
    const store = await open(t)
    const id = store.transaction(() => {
      insert(store, 'a')
      return insert(store, 'b').lastInsertRowid
    })
    assert.equal(id, 2)
    assert.deepEqual(texts(store), ['a', 'b'])
  })

  it('rolls back and rethrows errors', async (t) => {
    const store = await open(t)
    const mistake = new Error('changed my mind')
    assert.throws(
      () =>
        store.transaction(() => {
          insert(store, 'a')
          throw mistake
        }),
      (error) => error === mistake,
    )
    assert.deepEqual(texts(store), [])
    insert(store, 'b')
    assert.deepEqual(texts(store), ['b'])
  })

  it('inside another rolls back only its own changes', async (t) => {
    const store = await open(t)
    store.transaction(() => {
      insert(store, 'outer')
      assert.throws(() =>
        store.transaction(() => {
          insert(store, 'inner')
          throw new Error('no')
        }),
      )
      store.transaction(() => insert(store, 'second'))
    })
    assert.deepEqual(texts(store), ['outer', 'second'])
  })

  it('inside another is rolled back with it', async (t) => {
    const store = await open(t)
    assert.throws(() =>
      store.transaction(() => {
        store.transaction(() => insert(store, 'inner'))
        throw new Error('no')
      }),
    )
    assert.deepEqual(texts(store), [])
  })

  it('refuses asynchronous work and rolls it back', async (t) => {
    const store = await open(t)
    assert.throws(() =>
      store.transaction(async () => {
        insert(store, 'a')
      }),
    )
    assert.deepEqual(texts(store), [])
  })

  it('is invisible to others before its commit', async (t) => {
    const store = await open(t)
    const reader = await reopen(t, store.path)
    store.transaction(() => {
      insert(store, 'a')
      assert.deepEqual(texts(reader), [])
    })
    assert.deepEqual(texts(reader), ['a'])
  })
})

describe('database with another writer', () => {
  it('can be read', async (t) => {
    const writer = await open(t)
    const reader = await reopen(t, writer.path, [notes], {busyTimeoutMs: 0})
    insert(writer, 'a')
    writer.transaction(() => {
      insert(writer, 'b')
      assert.deepEqual(texts(reader), ['a'])
    })
  })

  it('is busy for a second writer, who can retry', async (t) => {
    const first = await open(t)
    const second = await reopen(t, first.path, [notes], {busyTimeoutMs: 0})
    const busy = failure('store_busy', Exit.unavailable, /store\.db is locked by another process/)
    first.transaction(() => {
      insert(first, 'a')
      assert.throws(() => insert(second, 'b'), busy)
      assert.throws(() => second.transaction(() => assert.fail('it should not have begun')), busy)
    })
    insert(second, 'b')
    assert.deepEqual(texts(first), ['a', 'b'])
  })

  it('waits for a writer in another process', async (t) => {
    const store = await open(t)
    const other = elsewhere(
      t,
      store.path,
      `
        const store = await openStore(path, [notes])
        store.transaction(() => {
          store.run("INSERT INTO notes (text) VALUES ('theirs')")
          say('holding')
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
        })
        store.close()
      `,
    )
    await other.said('holding')
    insert(store, 'ours')
    assert.deepEqual(texts(store), ['theirs', 'ours'])
  })

  it('can be opened if the schema is up to date', async (t) => {
    const writer = await open(t)
    insert(writer, 'a')
    const other = elsewhere(
      t,
      writer.path,
      `
        const store = await openStore(path, [notes])
        process.stdin.once('end', () => process.exit(0)).resume()
        store.run('BEGIN IMMEDIATE')
        say('holding')
      `,
    )
    await other.said('holding')
    assert.deepEqual(texts(await reopen(t, writer.path, [notes], {busyTimeoutMs: 0})), ['a'])
  })

  it('is busy if the schema must be upgraded', async (t) => {
    const writer = await open(t)
    const other = elsewhere(
      t,
      writer.path,
      `
        const store = await openStore(path, [notes])
        process.stdin.once('end', () => process.exit(0)).resume()
        store.run('BEGIN IMMEDIATE')
        say('holding')
      `,
    )
    await other.said('holding')
    await assert.rejects(
      openStore(writer.path, [fragment('more', 'CREATE TABLE more (a TEXT) STRICT')], {busyTimeoutMs: 0}),
      failure('store_busy', Exit.unavailable, /locked by another process/),
    )
  })
})

describe('database whose file was moved', () => {
  it('refuses writes, also after another file took its place, until it is back', async (t) => {
    const store = await open(t)
    insert(store, 'a')
    await rename(store.path, `${store.path}.away`)
    const isRefused = failure('store_moved', Exit.unavailable, /was moved, removed or replaced/)
    assert.throws(() => insert(store, 'b'), isRefused)
    assert.throws(() => store.transaction(() => insert(store, 'b')), isRefused)
    await copyFile(`${store.path}.away`, store.path)
    assert.throws(() => insert(store, 'b'), isRefused)
    await rename(`${store.path}.away`, store.path)
    insert(store, 'c')
    assert.deepEqual(texts(store), ['a', 'c'])
  })
})

describe('database that a process has opened twice', () => {
  it('is in use for other processes, also when one of the connections is closed', async (t) => {
    const store = await open(t)
    const second = await openStore(store.path, [notes])
    const vacuum = `
      const {vacuum} = await import(${JSON.stringify(door)})
      await vacuum(path).then(() => say('alone'), ({code}) => say(code))`
    const refused = elsewhere(t, store.path, vacuum)
    await refused.said('database_in_use')
    second.close()
    await elsewhere(t, store.path, vacuum).said('database_in_use')
    store.close()
    await elsewhere(t, store.path, vacuum).said('alone')
  })

  it('is created at the end of a symbolic link, and a circle of links is refused', async (t) => {
    const folder = await temporaryFolder(t)
    await symlink('real.db', join(folder, 'store.db'))
    insert(await reopen(t, join(folder, 'store.db')), 'a')
    assert.equal((await stat(join(folder, 'real.db'))).mode & 0o777, 0o600)
    await symlink('circle.db', join(folder, 'circle.db'))
    await assert.rejects(
      openStore(join(folder, 'circle.db'), [notes]),
      failure('store_unopenable', Exit.unavailable, /ELOOP/),
    )
  })
})

describe('killed process', () => {
  it('in a transaction leaves only committed changes', async (t) => {
    const path = join(await temporaryFolder(t), 'store.db')
    const other = elsewhere(
      t,
      path,
      `
        const store = await openStore(path, [notes])
        store.run("INSERT INTO notes (text) VALUES ('committed')")
        store.run('BEGIN IMMEDIATE')
        store.run("INSERT INTO notes (text) VALUES ('half way')")
        say('half way')
        setInterval(() => {}, 1000)
      `,
    )
    await other.said('half way')
    other.running.kill('SIGKILL')
    await other.running
    const store = await reopen(t, path)
    assert.deepEqual(texts(store), ['committed'])
    assert.deepEqual(store.get('PRAGMA integrity_check'), {integrity_check: 'ok'})
    insert(store, 'next')
    assert.deepEqual(texts(store), ['committed', 'next'])
  })

  it('in a migration leaves the schema unchanged', async (t) => {
    const store = await open(t)
    insert(store, 'a')
    const endless = `
      CREATE TABLE numbers (n INTEGER) STRICT;
      WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count) INSERT INTO numbers SELECT n FROM count;
    `
    const other = elsewhere(
      t,
      store.path,
      `
        say('starting')
        await openStore(path, [notes, fragment('numbers', ${JSON.stringify(endless)})])
      `,
    )
    await other.said('starting')
    const probe = await reopen(t, store.path, [notes], {busyTimeoutMs: 0})
    const migrating = () => {
      try {
        probe.run("DELETE FROM notes WHERE text = ''")
        return false
      } catch (error) {
        return isErrorOf(error, 'store_busy')
      }
    }
    while (!t.signal.aborted && !migrating()) await sleep(10)
    other.running.kill('SIGKILL')
    await other.running
    const again = await reopen(t, store.path)
    assert.deepEqual(tables(again), ['notes'])
    assert.deepEqual(versions(again), {notes: 1})
    assert.deepEqual(texts(again), ['a'])
  })
})

describe('invalid database file', () => {
  it('is refused and not changed if it is not a database', async (t) => {
    const path = join(await temporaryFolder(t), 'store.db')
    const content = 'This is a letter, not a database. '.repeat(100)
    await writeFile(path, content)
    await assert.rejects(
      openStore(path, [notes]),
      failure('store_damaged', Exit.unavailable, /not a valid SQLite database/),
    )
    assert.equal(await readFile(path, 'utf8'), content)
  })

  /** Copies a database with many rows, to be corrupted. */
  async function copy(test: TestContext) {
    const store = await open(test)
    store.transaction(() => {
      for (let i = 0; i < 2000; i++) insert(store, `${i} ${'x'.repeat(100)}`)
    })
    store.close()
    const path = `${store.path}.copy`
    await copyFile(store.path, path)
    return path
  }
  const damaged = failure('store_damaged', Exit.unavailable, /\.copy is not a valid SQLite database/)

  it('is reported if it is truncated', async (t) => {
    const path = await copy(t)
    await truncate(path, 3 * 4096)
    await assert.rejects(async () => texts(await reopen(t, path)), damaged)
  })

  it('is reported when a corrupt page is read', async (t) => {
    const path = await copy(t)
    const content = await readFile(path)
    await writeFile(path, content.fill(0xff, 4 * 4096))
    const store = await reopen(t, path)
    assert.throws(() => texts(store), damaged)
    assert.throws(() => {
      for (const _ of store.iterate('SELECT text FROM notes'));
    }, damaged)
  })
})

describe('concurrent use of a database', () => {
  it('permits reads during an iteration', async (t) => {
    const store = await open(t)
    for (const text of ['a', 'b']) insert(store, text)
    const seen = [...store.iterate<{text: string}>('SELECT text FROM notes ORDER BY id')].flatMap(({text}) =>
      store.all<{text: string}>('SELECT text FROM notes ORDER BY id').map((row) => text + row.text),
    )
    for (const {text} of store.iterate<{text: string}>('SELECT text FROM notes ORDER BY id'))
      for (const row of store.iterate<{text: string}>('SELECT text FROM notes ORDER BY id')) assert.ok(text + row.text)
    assert.deepEqual(seen, ['aa', 'ab', 'ba', 'bb'])
  })

  it('permits any number of different statements', async (t) => {
    const store = await open(t)
    for (let i = 0; i < 2000; i++) assert.deepEqual(store.get(`SELECT ${i} AS n`), {n: i})
  })

  it('permits opening in a worker thread', async (t) => {
    const path = join(await temporaryFolder(t), '.svc', 'store.db')
    const script = `
      import {Worker} from 'node:worker_threads'
      const work = \`import('${door}').then(({openStore}) => openStore(${JSON.stringify(path)}, [])).then((s) => s.close())\`
      new Worker(work, {eval: true})
    `
    await execa(process.execPath, ['--input-type=module', '--eval', script])
    assert.equal((await stat(path)).mode & 0o777, 0o600)
  })
})

describe('invalid database path', () => {
  it('is reported if it is a folder', async (t) => {
    const folder = await temporaryFolder(t)
    await assert.rejects(
      openStore(folder, [notes]),
      failure('store_unopenable', Exit.unavailable, /^Cannot open the database /),
    )
  })

  it('is reported if a part of it is a file', async (t) => {
    const file = join(await temporaryFolder(t), 'file')
    await writeFile(file, '')
    await assert.rejects(
      openStore(join(file, 'store.db'), [notes]),
      failure('store_unopenable', Exit.unavailable, /^Cannot open the database /),
    )
  })
})

describe('several databases', () => {
  it('are independent', async (t) => {
    const [one, two] = [await open(t), await open(t)]
    insert(one, 'a')
    assert.deepEqual([texts(one), texts(two)], [['a'], []])
  })
})
