import assert from 'node:assert/strict'
import {copyFile, readdir, rename} from 'node:fs/promises'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {fileURLToPath} from 'node:url'
import {execa} from 'execa'
import {appDatabase} from '../../src/lang/index.js'
import {backUpDatabase, openDatabase} from '../../src/store/index.js'
import {Driver} from '../support/sqlite.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

const rows = 2000

/** Kills a restore before one of its operations on files. Returns false if it has fewer operations. */
export type KillRestore = (operation: number) => Promise<boolean>

/**
 * Prepares a backup of `new` rows. A killed restore must leave the `old` rows, some of which are only in the write-ahead
 * log, or the `new` ones, and then the old ones as a backup.
 */
export async function prepareRestore(t: TestContext): Promise<KillRestore> {
  const folder = await temporaryFolder(t)
  const [source, backup] = [join(folder, 'source.db'), join(folder, 'backup.db')]
  await fill(source, 'new')
  await backUpDatabase(source, appDatabase, {file: backup, place: (partial, target) => rename(partial, target)})
  const script = fileURLToPath(new URL('restore-and-die.js', import.meta.url))
  const template = join(folder, 'template.db')
  await leaveJournal(template)
  return async (operation) => {
    const home = join(folder, String(operation))
    await writeFiles(home, {'.keep': ''})
    const path = join(home, 'app.db')
    for (const suffix of ['', '-wal']) await copyFile(`${template}${suffix}`, `${path}${suffix}`)
    const {stdout, signal} = await execa(process.execPath, [script, backup, path, String(operation)], {reject: false})
    const isKilled = signal === 'SIGKILL'
    assert.ok(isKilled || stdout === 'restored', `operation ${operation}: ${stdout}`)
    const state = contents(path)
    assert.ok(state === `old ${rows}` || state === `new ${rows}`, `operation ${operation}: ${state}`)
    if (!isKilled) assert.equal(state, `new ${rows}`)
    const backups = (await readdir(home)).filter((name) => name.startsWith('app.db.backup-') && /Z$/.test(name))
    if (state.startsWith('new'))
      assert.deepEqual(
        backups.map((name) => contents(join(home, name))),
        [`old ${rows}`],
      )
    // The next one succeeds and leaves nothing of the killed one but its incomplete copy, which is removed later.
    await execa(process.execPath, [script, backup, path, '0'])
    assert.equal(contents(path), `new ${rows}`)
    const kept = (await readdir(home)).filter((name) => name.startsWith('app.db.backup-'))
    assert.deepEqual(
      kept.map((name) => contents(join(home, name))).filter((text) => text.startsWith('old')),
      [`old ${rows}`],
    )
    return isKilled
  }
}

async function fill(path: string, text: string): Promise<void> {
  const database = await openDatabase(path)
  database.exec('CREATE TABLE IF NOT EXISTS svc_data_migrations (id INTEGER PRIMARY KEY)')
  database.exec('CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, text TEXT NOT NULL)')
  const insert = database.prepare('INSERT INTO item (text) VALUES (?)')
  database.transaction(() => {
    for (let i = 0; i < rows; i++) insert.run(text)
  })()
  database.close()
}

/** A database of `old` rows as a killed process leaves it: all but the schema is in its write-ahead log. */
async function leaveJournal(path: string): Promise<void> {
  const live = `${path}.live`
  const database = await openDatabase(live)
  database.exec('CREATE TABLE svc_data_migrations (id INTEGER PRIMARY KEY)')
  database.exec('CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT NOT NULL)')
  database.pragma('wal_checkpoint(TRUNCATE)')
  const insert = database.prepare('INSERT INTO item (text) VALUES (?)')
  database.transaction(() => {
    for (let i = 0; i < rows; i++) insert.run('old')
  })()
  for (const suffix of ['', '-wal']) await copyFile(`${live}${suffix}`, `${path}${suffix}`)
  database.close()
}

/** The texts of a database with the number of rows. */
function contents(path: string): string {
  const database = new Driver(path, {fileMustExist: true})
  try {
    assert.equal(database.pragma('integrity_check', {simple: true}), 'ok')
    return database
      .prepare("SELECT text || ' ' || count(*) FROM item GROUP BY text ORDER BY text")
      .pluck()
      .all()
      .join(', ')
  } finally {
    database.close()
  }
}
