/** Commands that replace or rewrite the database of a program while a server of another process uses it. */
import assert from 'node:assert/strict'
import {once} from 'node:events'
import {readdir, rename, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {appDatabase} from '../../src/lang/index.js'
import {backUpDatabase} from '../../src/store/index.js'
import {killRounds} from '../support/kill-rounds.js'
import {readDatabase} from '../support/sqlite.js'
import {startSvc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const before = `@table type Task { title: str, done: bool }
@cors("*") @endpoint(kind: query) fn list() to List[Task] { return db.Task.all() }
@endpoint(kind: mutation) fn add(title: str) to Id[Task] { return db.Task.insert({ title: title, done: false }) }
`
const renamed = before.replaceAll('title', 'name')
const renaming = ['migrate', '--yes', '--rebuild', 'Task', '--drop', 'Task.title', '--using', 'Task.name=old.title']

/** A workspace whose database has a task, and functions to serve it and to run commands on it. */
async function workspace(t: TestContext) {
  const root = await temporaryFolder(t)
  await writeFiles(root, {'src/main.svc': before})
  const database = join(root, '.svc/app.db')
  const run = (...args: string[]) => svcInTurn(['db', ...args], {cwd: root})
  assert.equal((await run('call', 'add', 'title=milk')).exitCode, 0)
  await backUpDatabase(database, appDatabase, {file: join(root, 'copy.db'), place: rename})
  return {
    root,
    database,
    run,
    start: (...args: string[]) => startSvc(['db', ...args], {cwd: root}),
    write: (program: string) => writeFile(join(root, 'src/main.svc'), program),
    rows: (sql: string, path = database): unknown[] =>
      readDatabase(path, (opened) => opened.prepare(sql).pluck().all()),
    async serve(...args: string[]) {
      const running = startSvc(['db', 'serve', '--port', '0', '--json', ...args], {cwd: root})
      t.after(() => running.kill('SIGKILL'))
      const events = createInterface({input: running.stdout as NodeJS.ReadableStream})
      const next = async () => JSON.parse((await once(events, 'line'))[0]) as {event: string; base_url: string}
      const {base_url: url} = await next()
      const ask = async (path: string, body?: object) => {
        const headers = {'content-type': 'application/json'}
        const response = await fetch(url + path, body && {method: 'POST', headers, body: JSON.stringify(body)})
        return {status: response.status, json: (await response.json()) as {code?: string}}
      }
      return {
        running,
        next,
        list: () => ask('/api/query/list'),
        add: (title: string) => ask('/api/mutation/add', {title}),
      }
    },
  }
}

/** Commands that need the database for themselves, with what they leave of the rows and what they need. */
const commands: Readonly<Record<string, {args: readonly string[]; program?: string; left: string; sql: string}>> = {
  reset: {args: ['reset', '--yes'], left: '', sql: 'SELECT title FROM task'},
  restore: {args: ['restore', 'copy.db'], left: 'milk', sql: 'SELECT title FROM task'},
  migrate: {args: renaming, program: renamed, left: 'milk tea', sql: 'SELECT name FROM task'},
  'migrate of a renamed column': {
    args: ['migrate'],
    program: renamed.replace('name: str', 'name: str was title'),
    left: 'milk tea',
    sql: 'SELECT name FROM task',
  },
  vacuum: {args: ['vacuum'], left: 'milk tea', sql: 'SELECT title FROM task'},
}

describe('a database that is served', {concurrency: 2}, () => {
  for (const [name, {args, program = before, left, sql}] of Object.entries(commands)) {
    it(`is not changed by ${name}, which names the server, until it has ended`, async (t) => {
      const {run, serve, write, rows} = await workspace(t)
      const server = await serve()
      await write(program)
      const {exitCode, stderr, stdout} = await run(...args)
      assert.equal(exitCode, 4, stderr)
      assert.match(
        stderr,
        new RegExp(`is in use by process ${server.running.pid} \\(svc db serve\\)\\. \\(database_in_use`),
      )
      assert.equal(stdout, '')
      assert.equal((await server.add('tea')).status, 200)
      assert.deepEqual(rows('SELECT title FROM task'), ['milk', 'tea'])
      server.running.kill('SIGKILL')
      await server.running
      assert.equal((await run(...args)).exitCode, 0)
      assert.equal(rows(sql).join(' '), left)
    })

    it(`is changed by ${name} --wait when the server has ended`, async (t) => {
      const {run, serve, start, write, rows} = await workspace(t)
      const server = await serve()
      await write(program)
      const waiting = start(...args, '--wait')
      t.after(() => waiting.kill('SIGKILL'))
      // The first one has been refused at least once when a second one was.
      assert.equal((await run(...args)).exitCode, 4)
      assert.equal((await server.add('tea')).status, 200)
      server.running.kill('SIGTERM')
      assert.equal((await server.running).exitCode, 0)
      assert.equal((await waiting).exitCode, 0)
      assert.equal(rows(sql).join(' '), left)
    })
  }

  it('stays served while steps are applied that take nothing away', async (t) => {
    const {run, serve, write, rows} = await workspace(t)
    const server = await serve()
    const wider = before.replace('done: bool', 'done: bool, note: Option[str], level: int')
    await write(wider.replace('done: false', 'done: false, level: 2'))
    assert.equal((await run('migrate', '--default', 'Task.level=1')).exitCode, 0)
    assert.equal((await server.add('tea')).status, 200)
    assert.equal((await server.list()).status, 200)
    assert.deepEqual(rows('SELECT level FROM task'), [1, 1])
  })

  it('takes turns with import, seed and export', async (t) => {
    const {root, run, serve, rows} = await workspace(t)
    const server = await serve()
    const imported = Array.from({length: 500}, (_, i) => ({_id: 1_000_000 + i, title: `imported ${i}`, done: false}))
    await writeFiles(root, {
      'rows.jsonl': imported.map((record) => `${JSON.stringify({table: 'Task', record})}\n`).join(''),
      'seed.json': JSON.stringify({Task: [{title: 'seeded', done: false}]}),
    })
    let isDone = false
    const added: string[] = ['milk']
    const adding = (async () => {
      while (!isDone) {
        const title = `tea ${added.length}`
        assert.equal((await server.add(title)).status, 200)
        added.push(title)
      }
    })()
    const [first, second, third] = await Promise.all([
      run('import', 'rows.jsonl'),
      run('seed', 'seed.json'),
      run('export'),
    ])
    isDone = true
    await adding
    for (const {exitCode, stderr} of [first, second, third]) assert.equal(exitCode, 0, stderr)
    // The export has all rows of the import or none, and the earlier ones of the server without gaps.
    const titles = third.stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as {record: {title: string}}).record.title)
    assert.ok([0, imported.length].includes(titles.filter((title) => title.startsWith('imported')).length))
    const early = titles.filter((title) => title.startsWith('tea'))
    assert.deepEqual(early, added.slice(1, 1 + early.length))
    assert.deepEqual(
      rows('SELECT title FROM task').sort(),
      [...added, 'seeded', ...imported.map(({title}) => title)].sort(),
    )
  })

  it('is no longer served after migrate --online took something away', async (t) => {
    const {run, serve, write, rows} = await workspace(t)
    const server = await serve()
    await write(renamed)
    assert.equal((await run(...renaming, '--online')).exitCode, 0)
    const {status, json} = await server.add('tea')
    assert.deepEqual([status, json.code], [503, 'SCHEMA_CHANGED'])
    const {exitCode, stderr, stdout} = await server.running
    assert.equal(exitCode, 5)
    assert.match(`${stdout}${stderr}`, /was migrated, and no longer matches the program/)
    assert.match(String(stderr), /^warning: src\/main\.svc:2: @cors has no effect\.$/m)
    assert.deepEqual(rows('SELECT name FROM task'), ['milk'])
  })

  it('is no longer served after it was removed, and confirms no row that would be lost', async (t) => {
    const {database, serve} = await workspace(t)
    const server = await serve()
    assert.equal((await server.list()).status, 200)
    await rm(database)
    const {status, json} = await server.add('tea')
    assert.deepEqual([status, json.code], [503, 'DB_MOVED'])
    const {exitCode, stderr, stdout} = await server.running
    assert.equal(exitCode, 5)
    assert.match(`${stdout}${stderr}`, /app\.db was moved, removed or replaced/)
  })

  it('is served with the new program by --watch', async (t) => {
    const {run, serve, write, rows} = await workspace(t)
    const server = await serve('--watch')
    await write(renamed)
    assert.equal((await run(...renaming, '--online')).exitCode, 0)
    await server.list()
    assert.equal((await server.next()).event, 'reloaded')
    assert.deepEqual((await server.list()).json, [{_id: 1, name: 'milk', done: false}])
    assert.deepEqual(rows('SELECT name FROM task'), ['milk'])
  })

  it('is not left by vacuum --online', async (t) => {
    const {run, serve} = await workspace(t)
    const server = await serve()
    assert.equal((await run('vacuum', '--online')).exitCode, 0)
    assert.equal((await server.add('tea')).status, 200)
  })
})

describe('a reset', () => {
  for (const victim of ['server', 'reset'] as const)
    it(`loses no row if the ${victim} is killed`, async (t) => {
      const {database, root, serve, start, rows} = await workspace(t)
      const added = ['milk']
      for (let round = 0; round < killRounds; round++) {
        const server = await serve()
        const title = `tea ${round}`
        const reset = start('reset', '--yes', '--wait')
        t.after(() => reset.kill('SIGKILL'))
        if ((await server.add(title)).status === 200) added.push(title)
        if (victim === 'server') server.running.kill('SIGKILL')
        else {
          await sleep(100 * round)
          reset.kill('SIGKILL')
          server.running.kill('SIGTERM')
        }
        await Promise.all([reset, server.running])
      }
      const files = (await readdir(join(root, '.svc'))).filter((name) => /^app\.db(\.backup-[\dTZ-]+)?$/.test(name))
      const found = files.flatMap((name) => rows('SELECT title FROM task', join(root, '.svc', name)))
      assert.deepEqual(found.sort(), added.sort(), `${database}: ${files.join(' ')}`)
    })
})
