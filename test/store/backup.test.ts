import assert from 'node:assert/strict'
import {existsSync, renameSync} from 'node:fs'
import files, {mkdir, readdir, readFile, rename, symlink, truncate, utimes, writeFile} from 'node:fs/promises'
import {syncBuiltinESMExports} from 'node:module'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {isErrorOf} from '../../src/errors/index.js'
import {writeFault} from '../../src/files/index.js'
import {
  backUpDatabase,
  type DatabaseKind,
  fragment,
  openDatabase,
  openStore,
  replaceDatabase,
  restoreDatabase,
} from '../../src/store/index.js'
import {Driver, readDatabase} from '../support/sqlite.js'
import {temporaryFolder} from '../support/temporary.js'
import {backUpDuringWrites} from './backups-during-writes.js'
import {prepareRestore} from './kill-restore.js'

const kind: DatabaseKind = {
  name: 'store',
  fragments: [fragment('orchestrator', 'CREATE TABLE orch_tasks (text TEXT)')],
  continueFrom() {},
}
const target = {
  place: (partial: string, file: string) => rename(partial, file),
  fault: writeFault,
}

async function store(path: string, ...texts: string[]): Promise<void> {
  const opened = await openStore(path, kind.fragments)
  for (const text of texts) opened.run('INSERT INTO orch_tasks VALUES (?)', [text])
  opened.close()
}

const texts = (path: string): unknown[] =>
  readDatabase(path, (database) => database.prepare('SELECT text FROM orch_tasks').pluck().all())

async function twoStates(t: TestContext) {
  const folder = await temporaryFolder(t)
  const [path, file] = [join(folder, 'store.db'), join(folder, 'copy.db')]
  await store(path, 'old')
  await backUpDatabase(path, kind, {file, ...target})
  await store(path, 'later')
  return {folder, path, file}
}

/** Makes the file system one without links. */
function removeLinks(t: TestContext): void {
  const {link} = files
  t.after(() => {
    files.link = link
    syncBuiltinESMExports()
  })
  files.link = () => Promise.reject(Object.assign(new Error('not permitted'), {code: 'EPERM'}))
  syncBuiltinESMExports()
}

describe('replaceDatabase', () => {
  it('keeps the old database, and adds a number to its name if that name is taken', async (t) => {
    const folder = await temporaryFolder(t)
    const path = join(folder, 'store.db')
    const now = new Date('2026-01-02T03:04:05.678Z')
    const kept: (string | null)[] = []
    for (let i = 0; i < 4; i++)
      kept.push(await replaceDatabase(path, {write: (file) => store(file, String(i)), kind, now}))
    const first = `${path}.backup-20260102T030405Z`
    assert.deepEqual(kept, [null, first, `${first}-2`, `${first}-3`])
    assert.deepEqual(
      kept.map((backup) => texts(backup ?? path)),
      [['3'], ['0'], ['1'], ['2']],
    )
    assert.equal((await readdir(folder)).length, 4)
  })

  it('changes nothing if the new database cannot be written', async (t) => {
    const {folder, path} = await twoStates(t)
    const before = await readdir(folder)
    const fails = async (file: string) => {
      await store(file, 'half')
      throw new Error('full')
    }
    await assert.rejects(replaceDatabase(path, {write: fails, kind}), /full/)
    assert.deepEqual(await readdir(folder), before)
    const missing = join(folder, 'new/store.db')
    await assert.rejects(replaceDatabase(missing, {write: fails, kind}), /full/)
    assert.equal(existsSync(missing), false)
    const late = {...kind, continueFrom: () => assert.fail('late')}
    await assert.rejects(replaceDatabase(missing, {write: (partial) => store(partial), kind: late}), /late/)
    assert.deepEqual(await readdir(join(folder, 'new')), [])
  })

  it('does not replace files of another kind, nor files that are no database at a path of the user', async (t) => {
    const {folder, path, file} = await twoStates(t)
    const app: DatabaseKind = {name: 'app', fragments: [], continueFrom() {}}
    const notes = join(folder, 'notes.txt')
    await writeFile(notes, 'mine')
    const before = [await readdir(folder), await readFile(path), await readFile(notes)]
    const differs = (error: unknown) => isErrorOf(error, 'database_kind_differs')
    const write = (partial: string) => store(partial)
    await assert.rejects(replaceDatabase(path, {write, kind: app, isDefaultPath: true}), differs)
    await assert.rejects(restoreDatabase(file, notes, kind), differs)
    assert.deepEqual([await readdir(folder), await readFile(path), await readFile(notes)], before)
  })
})

describe('a restored database', () => {
  it('has the state of the backup; the replaced one has its own', async (t) => {
    const {path, file} = await twoStates(t)
    const backup = await restoreDatabase(file, path, kind)
    assert.deepEqual([texts(path), texts(backup ?? '')], [['old'], ['old', 'later']])
  })

  it('replaces the target of a symbolic link', async (t) => {
    const {folder, path, file} = await twoStates(t)
    await mkdir(join(folder, 'a'))
    await symlink(path, join(folder, 'a/link.db'))
    await restoreDatabase(file, join(folder, 'a/link.db'), kind)
    assert.deepEqual(texts(path), ['old'])
    assert.deepEqual(await readdir(join(folder, 'a')), ['link.db'])
  })

  it('is exchanged on a file system without links', async (t) => {
    const {path, file} = await twoStates(t)
    removeLinks(t)
    const backup = await restoreDatabase(file, path, kind)
    assert.deepEqual([texts(path), texts(backup ?? '')], [['old'], ['old', 'later']])
  })

  it('is not changed by journals of a deleted database', async (t) => {
    const {path, file} = await twoStates(t)
    const live = await openDatabase(path)
    live.prepare("INSERT INTO orch_tasks VALUES ('only in the journal')").run()
    const journal = await readFile(`${path}-wal`)
    live.close()
    const other = `${path}.other`
    await writeFile(`${other}-wal`, journal)
    await restoreDatabase(file, other, kind)
    assert.deepEqual(texts(other), ['old'])
  })

  for (const [name, damage] of Object.entries({
    'is not a database': (path: string) => writeFile(path, 'x'.repeat(9000)),
    'is truncated': (path: string) => truncate(path, 5000),
  }))
    for (const hasLinks of [true, false])
      it(`replaces a file that ${name}, and keeps it${hasLinks ? '' : ' without links'}`, async (t) => {
        const {path, file} = await twoStates(t)
        await damage(path)
        const bytes = await readFile(path)
        await writeFile(`${path}-wal`, 'journal')
        if (!hasLinks) removeLinks(t)
        const backup = await restoreDatabase(file, path, kind, {isDefaultPath: true})
        assert.deepEqual(texts(path), ['old'])
        assert.deepEqual(await readFile(backup ?? ''), bytes)
        assert.equal(existsSync(`${path}-wal`), false)
      })

  it('removes what killed commands left, but no copy that another process may be writing', async (t) => {
    const {folder, path, file} = await twoStates(t)
    const of = (name: string) => `${path}.${name}.partial`
    const old = ['0123abcd', 'backup-20260102T030405Z-2.0123abcd', 'notes']
    for (const name of [...old, '89abcdef']) await writeFile(of(name), '')
    for (const name of old) await utimes(of(name), 1, 1)
    await restoreDatabase(file, path, kind)
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.endsWith('.partial')),
      ['store.db.89abcdef.partial', 'store.db.notes.partial'],
    )
  })
})

describe('a writer that opens a database', () => {
  it('opens the new file if it was replaced during the wait for its lock', async (t) => {
    const {path, file} = await twoStates(t)
    const old = new Driver(path)
    old.pragma('journal_mode = DELETE')
    old.close()
    const {pragma} = Driver.prototype
    const restore = () => {
      Driver.prototype.pragma = pragma
    }
    t.after(restore)
    Driver.prototype.pragma = function (...args) {
      restore()
      renameSync(file, path)
      return this.pragma(...args)
    }
    const opened = await openDatabase(path)
    opened.close()
    assert.deepEqual(texts(path), ['old'])
  })
})

describe('a backup that cannot be restored', () => {
  const newer: DatabaseKind = {...kind, fragments: [fragment('orchestrator')]}
  for (const [name, code, damage, as = kind] of [
    ['is missing', 'file_not_found', (path: string) => rename(path, `${path}.gone`)],
    ['is truncated', 'backup_damaged', (path: string) => truncate(path, 5000)],
    ['is empty', 'database_kind_differs', (path: string) => truncate(path, 0)],
    ['is text', 'backup_damaged', (path: string) => writeFile(path, 'x'.repeat(9000))],
    ['is of another kind', 'database_kind_differs', async () => undefined, {...kind, name: 'app'}],
    ['is of a newer version', 'store_newer', async () => undefined, newer],
  ] as const)
    it(`is refused if it ${name}`, async (t) => {
      const {path, file} = await twoStates(t)
      await damage(file)
      await assert.rejects(restoreDatabase(file, path, as), (error) => isErrorOf(error, code))
      assert.deepEqual(texts(path), ['old', 'later'])
    })

  it('is refused if it is the database itself, or the database is open', async (t) => {
    const {path, file} = await twoStates(t)
    await assert.rejects(restoreDatabase(path, path, kind), (error) => isErrorOf(error, 'output_is_input'))
    const other = new Driver(path)
    other.prepare('SELECT * FROM orch_tasks').all()
    await assert.rejects(restoreDatabase(file, path, kind), (error) => isErrorOf(error, 'database_in_use'))
    other.close()
    assert.deepEqual(texts(path), ['old', 'later'])
  })
})

describe('a backup', () => {
  it('is not written where a journal would be applied to it', async (t) => {
    const {folder, path, file} = await twoStates(t)
    const other = join(folder, 'other.db')
    await writeFile(`${other}-wal`, 'journal')
    await assert.rejects(backUpDatabase(path, kind, {file: other, ...target}), (error) =>
      isErrorOf(error, 'backup_target_open'),
    )
    assert.equal(existsSync(file), true)
  })

  it('that cannot be written there is reported with its path', async (t) => {
    const {folder, path} = await twoStates(t)
    const entries = async () => (await readdir(folder)).filter((name) => !/-(wal|shm)$/.test(name))
    const before = await entries()
    for (const other of [join(path, 'under/copy.db'), join(folder, 'x'.repeat(300)), '/proc/copy.db']) {
      const isReported = (error: unknown) => isErrorOf(error, 'file_unwritable') && error.params.path === other
      await assert.rejects(backUpDatabase(path, kind, {file: other, ...target}), isReported)
    }
    const full = Object.assign(new Error('full'), {code: 'SQLITE_FULL'})
    const {backup} = Driver.prototype
    t.after(() => {
      Driver.prototype.backup = backup
    })
    Driver.prototype.backup = () => Promise.reject(full)
    const other = join(folder, 'other.db')
    const isReported = (error: unknown) => isErrorOf(error, 'store_unwritable') && error.params.path === other
    await assert.rejects(backUpDatabase(path, kind, {file: other, ...target}), isReported)
    assert.deepEqual(await entries(), before)
  })

  it('of a damaged database is refused, and leaves nothing', async (t) => {
    const {folder, path} = await twoStates(t)
    await truncate(path, 5000)
    await assert.rejects(backUpDatabase(path, kind, target), (error) => isErrorOf(error, 'store_damaged'))
    assert.deepEqual(
      (await readdir(folder)).filter((name) => !/^(copy|store)\.db(-wal|-shm)?$/.test(name)),
      [],
    )
  })

  it('taken during the writes of two processes restores to a state that existed', async (t) => {
    await backUpDuringWrites(t, {count: 6, everyMs: 100})
  })
})

describe('a restore that is killed', () => {
  // The operations around the exchange of the files, at the end.
  it('leaves the old or the new database', async (t) => {
    const kill = await prepareRestore(t)
    for (const operation of [12, 20, 28]) await kill(operation)
  })
})
