/** `svc db backup` and `svc db restore` for each kind of database, and what clients of the earlier life of a store see. */
import assert from 'node:assert/strict'
import {createHash} from 'node:crypto'
import {existsSync} from 'node:fs'
import {readFile, rm, stat, truncate} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {execa} from 'execa'
import {openAt} from '../mesh/store/sqlite/open-store.js'
import {orchWorkspace} from '../support/orch-workspace.js'
import {writeFiles} from '../support/temporary.js'

const source = `@table type Task { title: str }
@endpoint(kind: query) fn list() to List[Task] { return db.Task.all().live("tasks") }
@endpoint(kind: mutation) fn add(title: str) to Id[Task] { return db.Task.insert({ title: title }) }
`

/** A folder with a database of each kind. */
async function workspace(t: TestContext) {
  const created = await orchWorkspace(t)
  const {cwd, text} = created
  await writeFiles(cwd, {'src/main.svc': source})
  await text(['db', 'call', 'add', 'title=milk'])
  await (await openAt(t, join(cwd, 'mesh.db'))).close()
  return created
}

interface Written {
  file: string
  kind: string
  sha256: string
  bytes: number
  backup: string
}

describe('svc db backup and svc db restore', {concurrency: 2}, () => {
  for (const [kind, flags, path] of [
    ['app', [], '.svc/app.db'],
    ['store', ['--store'], '.svc/store.db'],
    ['mesh', ['--mesh', '--db', 'mesh.db'], 'mesh.db'],
  ] as const)
    it(`copy a database of the kind ${kind} to a file that only its owner can read, and back`, async (t) => {
      const {cwd, json, text, fails} = await workspace(t)
      const file = join(cwd, 'backups/one.db')
      const written = await json<Written>('cli/db-backup.v1', ['db', 'backup', file, ...flags])
      const bytes = await readFile(file)
      assert.deepEqual(
        [written.file, written.kind, written.bytes, written.sha256],
        [file, kind, bytes.length, createHash('sha256').update(bytes).digest('hex')],
      )
      assert.equal((await stat(file)).mode & 0o777, 0o600)
      await fails(['db', 'backup', file, ...flags], 4, 'output_exists')
      assert.equal(await text(['db', 'backup', file, '--overwrite', ...flags]), `${file}\n`)
      await fails(['db', 'backup', path, '--overwrite', ...flags], 4, 'output_is_input')

      const restored = await json<Written>('cli/db-restore.v1', ['db', 'restore', file, ...flags])
      assert.deepEqual([restored.file, restored.kind], [file, kind])
      assert.ok(restored.backup.startsWith(`${join(cwd, path)}.backup-`))
      const others = [[], ['--store'], ['--mesh', '--db', 'mesh.db']].filter((other) => other[0] !== flags[0])
      for (const other of others) await fails(['db', 'restore', file, ...other], 2, 'database_kind_differs')
      await fails(['db', 'restore', 'missing.db', ...flags], 3, 'file_not_found')
      await execa('mkfifo', [join(cwd, 'pipe')])
      await fails(['db', 'backup', 'pipe', '--overwrite', ...flags], 1, 'file_unwritable')
      assert.ok((await stat(join(cwd, 'pipe'))).isFIFO())
    })

  it('use the folder of the database by default, and need a database or a backup of it', async (t) => {
    const {cwd, text, fails} = await workspace(t)
    const file = (await text(['db', 'backup'])).trimEnd()
    assert.match(file, /\.svc\/app\.db\.backup-\w+Z$/)
    // The hint of a damaged database.
    await truncate(join(cwd, '.svc/app.db'), 5000)
    await fails(['db', 'export'], 5, 'store_damaged')
    await text(['db', 'restore', file])
    assert.equal(await text(['db', 'query', 'db.Task.count()']), '1\n')
    await writeFiles(cwd, {'notes.txt': 'mine', '.svc/app.db': 'no database'})
    await fails(['db', 'restore', file, '--db', 'notes.txt'], 2, 'database_kind_differs')
    await fails(['db', 'restore', file, '--db', '.svc/store.db'], 2, 'database_kind_differs')
    await fails(['db', 'reset', '--yes', '--db', 'notes.txt'], 2, 'database_kind_differs')
    assert.equal(await readFile(join(cwd, 'notes.txt'), 'utf8'), 'mine')
    await text(['db', 'restore', file])
    await rm(join(cwd, '.svc/app.db'))
    await fails(['db', 'backup'], 3, 'database_missing')
    assert.equal(await text(['db', 'restore', file]), `${join(cwd, '.svc/app.db')} is restored.\n`)
    assert.equal(await text(['db', 'query', 'db.Task.count()']), '1\n')
    await fails(['db', 'backup', '--mesh'], 2, 'usage', {env: {SVC_MESH_STORE_URL: 'postgres://localhost/mesh'}})
  })

  it('inform a client that watches changes from an undone one', async (t) => {
    const {text, startInTurn} = await workspace(t)
    const file = (await text(['db', 'backup', 'one.db'])).trimEnd()
    await text(['db', 'call', 'add', 'title=tea'])
    await text(['db', 'restore', file])
    await text(['db', 'call', 'add', 'title=bread'])
    const watch = startInTurn(['db', 'watch', 'tasks', '--after', '2', '--json'])
    const [first, second] = [JSON.parse(await watch.line(1)), JSON.parse(await watch.line(2))]
    assert.deepEqual([first.change_kind, second.change_kind], ['reset', 'insert'])
    assert.equal(second.id, first.id + 1)
    await watch.end('SIGINT')
  })
})

describe('svc db --store', () => {
  it('uses the store that the settings select, and no other', async (t) => {
    const {cwd, text, json} = await orchWorkspace(t, '', {hasStore: false})
    for (const [store, toml] of [
      [join(cwd, 'tasks.db'), 'journey_store = "./tasks.db"'],
      [join(cwd, 'shared/svc.db'), 'journey_store = "canonical"'],
    ] as const) {
      await writeFiles(cwd, {'Svc.toml': `[workspace]\n${toml}\n`, 'shared/.keep': ''})
      const env = {SVC_DATA_DIR: join(cwd, 'shared')}
      await text(['orch', 'submit', 'one', '--processor', 'external', '--quiet'], {env})
      const rows = (await text(['db', 'export', '--store', '--table', 'orch_tasks'], {env})).trimEnd().split('\n')
      assert.equal(rows.length, 1)
      const {database} = await json<{database: string}>('cli/db-prune.v1', ['db', 'prune', '--store'], {env})
      assert.equal(database, store)
      const copy = (await text(['db', 'backup', `${store}.copy`, '--store'], {env})).trimEnd()
      await text(['db', 'restore', copy, '--store'], {env})
      assert.match(await text(['db', 'vacuum', '--store'], {env}), /./)
    }
    assert.equal(existsSync(join(cwd, '.svc/store.db')), false)
  })
})

describe('a restored workspace store', () => {
  it('refuses claims of its earlier life, queues claimed tasks again and assigns no id again', async (t) => {
    const {cwd, text, fails, submit, events, startInTurn} = await orchWorkspace(t)
    const claim = async () => (await text(['orch', 'claim'])).trimEnd().split(' ') as [string, string]
    const external = ['--processor', 'external', '--quiet']
    await submit('one', ...external)
    assert.deepEqual(await claim(), ['T-0001', '1'])
    const file = (await text(['db', 'backup', 'store.copy', '--store'])).trimEnd()
    await text(['orch', 'complete', 'T-0001', '--claim', '1'])
    await submit('two', ...external)
    assert.deepEqual(await claim(), ['T-0002', '1'])
    const last = (await events()).at(-1)?.id ?? 0

    await text(['db', 'restore', file, '--store'])
    await fails(['orch', 'complete', 'T-0001', '--claim', '1'], 4, 'claim_lost')
    await fails(['orch', 'heartbeat', 'T-0001', '--claim', '1'], 4, 'claim_lost')
    const [again, generation] = await claim()
    assert.equal(again, 'T-0001')
    await text(['orch', 'complete', 'T-0001', '--claim', generation])
    assert.equal(await submit('three', ...external), 'T-0003')
    // A reader that has seen events that were undone sees all later ones, the restore first.
    const [restored, ...later] = await events('--since', String(last))
    assert.equal(restored?.kind.type, 'store_restored')
    assert.ok(later.some(({kind}) => kind.type === 'task_completed'))

    // The replaced store is unknown, so the ids of its tasks are not.
    await rm(join(cwd, '.svc/store.db'))
    await text(['db', 'restore', file, '--store'])
    assert.equal(await submit('another two', ...external), 'T-0002')
    await claim()
    await claim()
    await fails(['orch', 'complete', 'T-0002', '--claim', '1'], 4, 'claim_lost')

    const newest = (await events()).at(-1)?.id ?? 0
    const follow = startInTurn(['orch', 'events', '--follow', '--json', '--since', String(newest + 1000)])
    await follow.says(/does not exist in this store\. Only new events/)
    await submit('four', ...external)
    assert.equal(JSON.parse(await follow.line(1)).kind.type, 'task_submitted')
    await follow.end('SIGINT')
  })
})
