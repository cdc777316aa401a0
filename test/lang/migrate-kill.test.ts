import assert from 'node:assert/strict'
import {cpSync, readdirSync} from 'node:fs'
import {copyFile, mkdir, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {describe, it} from 'node:test'
import type {Database} from 'better-sqlite3'
import {execa} from 'execa'
import {Application, checkProgram, type Decisions, migrate} from '../../src/lang/index.js'
import {projectFile} from '../support/project.js'
import {temporaryFolder} from '../support/temporary.js'

const endpoints = `
@endpoint(kind: query) fn notes() to List[Note] { return db.Note.all().order_by(_id).live("notes") }
@endpoint(kind: query) fn find(word: str) to List[Note] { return db.Note.where({ text: { matches: word } }) }
@endpoint(kind: query) fn close() to List[Note] { return db.Note.where({ place: { near: [1.0, 0.0] } }).limit(1) }
`
const before = `@table type Note { text: str, day: str, owner: str, place: List[float] }
@table type Draft { text: str }
@table type Tag { label: str, kind: Kind }
type Kind = | Plain | Bold
@index Note.by_owner on (owner)
@search_index Note.by_text on (text)
@vector_index Note.by_place on (place) { dimensions: 2 }
${endpoints}
@endpoint(kind: mutation) fn add(text: str) to Id[Note] {
    return db.Note.insert({ text: text, day: "3", owner: "Ann", place: [0.5, 0.5] })
}`
/** One step of every kind: tables created, rebuilt and dropped, columns, indexes. */
const after = `@table type Note { text: str, day: int, level: int check(level < 9), mark: Option[str], place: List[float] }
@table type Person { name: str, boss: Option[Id[Person]] on delete set_null }
@table type Mark was Tag { name: str was label, kind: Kind }
type Kind = | Simple was Plain | Bold
@index Note.few on (level) where (level > 1)
@index Note.by_day on (day)
@index Person.by_name on (name) unique
@search_index Note.by_text on (text, mark)
@vector_index Note.by_place on (place) { dimensions: 2 }
${endpoints}
@endpoint(kind: mutation) fn add(text: str) to Id[Note] {
    return db.Note.insert({ text: text, day: 3, level: 2, place: [0.5, 0.5] })
}`
const decisions: Decisions = {
  defaults: ['Note.level=1'],
  rebuilds: ['Note'],
  drops: ['Note.owner', 'draft'],
  usings: [],
}

const oldRows = [
  {_id: 1, text: 'a fox', day: '1', owner: 'Ann', place: [1, 0]},
  {_id: 2, text: 'a bird', day: '2', owner: 'Bo', place: [0, 1]},
]

/** A program on its database. */
async function open(source: string, path: string) {
  const application = await Application.open(checkProgram(source), {path})
  return {
    database: application.writer.database,
    close: () => application.close(),
    async call(name: string, ...args: unknown[]) {
      const target = application.program.functions.find((made) => made.name === name)
      assert.ok(target)
      return (await application.call(target, args)).value
    },
  }
}

const isSound = (database: Database) => database.pragma('integrity_check', {simple: true}) === 'ok'

/** The database of the old program, with its rows. */
async function makeOrigin(path: string): Promise<void> {
  await migrate(checkProgram(before), path)
  const {database, close} = await open(before, path)
  const insert = database.prepare('INSERT INTO note (text, day, owner, place) VALUES (?, ?, ?, ?)')
  for (const {text, day, owner, place} of oldRows) insert.run(text, day, owner, JSON.stringify(place))
  close()
}

/** Migrates in a process that is killed at the given statement number. */
async function migrateAndDie(path: string, program: string, number: number): Promise<void> {
  const script = projectFile('dist/test/support/migrate-and-die.js')
  const args = [script, path, program, JSON.stringify(decisions), String(number)]
  const {signal, stderr} = await execa(process.execPath, args, {reject: false})
  assert.equal(signal, 'SIGKILL', stderr)
}

async function assertOldProgramWorks(path: string): Promise<void> {
  const {call, close, database} = await open(before, path)
  assert.deepEqual(await call('notes'), oldRows)
  assert.equal(await call('add', 'a cat'), 3)
  assert.deepEqual(await call('find', 'fox'), oldRows.slice(0, 1))
  assert.deepEqual(await call('find', 'cat'), [{_id: 3, text: 'a cat', day: '3', owner: 'Ann', place: [0.5, 0.5]}])
  assert.deepEqual(await call('close'), oldRows.slice(0, 1))
  assert.ok(isSound(database))
  close()
}

async function assertNewProgramWorks(path: string): Promise<void> {
  const {call, close, database} = await open(after, path)
  const newRows = oldRows.map(({owner, day, ...row}) => ({...row, day: Number(day), level: 1, mark: null}))
  assert.deepEqual(await call('notes'), newRows)
  assert.deepEqual(await call('find', 'fox'), newRows.slice(0, 1))
  assert.deepEqual(await call('close'), newRows.slice(0, 1))
  assert.ok(isSound(database))
  close()
}

/** Creates a folder for a copy of the database, and returns the path of the copy. */
async function copyOf(origin: string, folder: string): Promise<string> {
  await mkdir(folder)
  const path = join(folder, 'app.db')
  await copyFile(origin, path)
  return path
}

/** File names in a folder, without the timestamps of backups. */
const filesIn = (folder: string) =>
  readdirSync(folder)
    .map((name) => name.replace(/\d{8}T\d{6}Z/, 'TIME'))
    .sort()

async function assertCanBeRunAgain(path: string): Promise<void> {
  await assertOldProgramWorks(path)
  assert.equal((await migrate(checkProgram(after), path, {decisions})).left, 0)
  assert.equal((await migrate(checkProgram(after), path)).up_to_date, true)
}

describe('a migration that is killed at any statement', () => {
  it('leaves the database usable by the old program, and can be repeated', async (t) => {
    const folder = await temporaryFolder(t)
    const [origin, program] = [join(folder, 'origin.db'), join(folder, 'after.svc')]
    await makeOrigin(origin)
    await writeFile(program, after)

    // A kill leaves the files in their current state, so one run copies them at each statement.
    const whole = await copyOf(origin, join(folder, 'whole'))
    const left: {path: string; files: string[]}[] = []
    const onStatement = () => {
      const copy = join(folder, `left-${left.length + 1}`)
      cpSync(dirname(whole), copy, {recursive: true})
      left.push({path: join(copy, 'app.db'), files: filesIn(copy)})
    }
    await migrate(checkProgram(after), whole, {decisions, onStatement})
    await assertNewProgramWorks(whole)
    assert.ok(left.length > 20, `${left.length} statements`)
    for (const {path} of left) await assertCanBeRunAgain(path)

    for (const number of [1, left.length >> 1, left.length]) {
      const path = await copyOf(origin, join(folder, `killed-${number}`))
      await migrateAndDie(path, program, number)
      assert.deepEqual(filesIn(dirname(path)), left[number - 1]?.files)
      await assertCanBeRunAgain(path)
    }
  })
})
