import assert from 'node:assert/strict'
import {rename, rm} from 'node:fs/promises'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {fileURLToPath} from 'node:url'
import {appDatabase} from '../../src/lang/index.js'
import {backUpDatabase, openDatabase, restoreDatabase} from '../../src/store/index.js'
import {startProgramFor} from '../support/program.js'
import {readDatabase} from '../support/sqlite.js'
import {temporaryFolder} from '../support/temporary.js'
import {until} from '../support/until.js'

const writers = ['1', '2'] as const
const accounts = 100

/** Takes backups while two processes write, and checks that each one restores to a state that existed. */
export async function backUpDuringWrites(
  t: TestContext,
  {count, everyMs}: {count: number; everyMs: number},
): Promise<void> {
  const folder = await temporaryFolder(t)
  const path = join(folder, 'app.db')
  const database = await openDatabase(path)
  database.exec(`CREATE TABLE svc_data_migrations (id INTEGER PRIMARY KEY);
-- More pages than one step copies.
CREATE TABLE filler (bytes BLOB);
INSERT INTO filler VALUES (zeroblob(${5 << 20}));
CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL);
CREATE TABLE counter (writer TEXT PRIMARY KEY, n INTEGER NOT NULL);
CREATE TABLE move (id INTEGER PRIMARY KEY, writer TEXT NOT NULL, n INTEGER NOT NULL, pad TEXT NOT NULL);
WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ${accounts})
INSERT INTO account SELECT id, 1000 FROM ids;`)
  for (const writer of writers) database.prepare('INSERT INTO counter VALUES (?, 0)').run(writer)
  database.close()

  const running = writers.map((writer) => startWriter(t, path, writer))
  await until(() => running.every(({done}) => done() > 0), 'both write')
  let earlier = running.map(() => 0)
  for (let i = 0; i < count; i++) {
    const least = running.map(({done}) => done())
    const {file} = await backUpDatabase(path, appDatabase, {
      file: join(folder, 'backup.db'),
      place: (partial, target) => rename(partial, target),
    })
    const copy = join(folder, 'copy.db')
    const replaced = await restoreDatabase(file, copy, appDatabase)
    if (replaced !== null) await rm(replaced)
    const counts = checkState(copy)
    for (const [writer, commits] of counts.entries()) {
      const acknowledged = Math.max(least[writer] as number, earlier[writer] as number)
      assert.ok(commits >= acknowledged, `writer ${writer}: ${commits} of ${acknowledged} commits`)
    }
    earlier = counts
    await sleep(everyMs)
  }
  for (const {isRunning, stderr} of running) assert.ok(isRunning(), `a writer has failed: ${stderr()}`)
}

function startWriter(t: TestContext, path: string, writer: string) {
  const script = fileURLToPath(new URL('write-for-ever.js', import.meta.url))
  const program = startProgramFor(t, [script, path, writer])
  return {...program, done: () => Number(program.lines.at(-1) ?? 0)}
}

/** Checks that a database has the state after some commit. Returns the number of commits of each writer. */
function checkState(path: string): number[] {
  return readDatabase(path, (database) => {
    const value = (sql: string, ...params: string[]) =>
      database
        .prepare(sql)
        .pluck()
        .get(...params) as number
    assert.equal(database.pragma('integrity_check', {simple: true}), 'ok')
    assert.equal(value('SELECT sum(amount) FROM account'), accounts * 1000)
    return writers.map((writer) => {
      const count = value('SELECT n FROM counter WHERE writer = ?', writer)
      assert.equal(value('SELECT count(*) FROM move WHERE writer = ?', writer), count)
      assert.equal(value('SELECT coalesce(max(n), 0) FROM move WHERE writer = ?', writer), count)
      return count
    })
  })
}
