import assert from 'node:assert/strict'
import {readdir, stat, symlink, writeFile} from 'node:fs/promises'
import {basename, dirname} from 'node:path'
import {describe, it} from 'node:test'
import type {Database} from 'better-sqlite3'
import {Driver} from '../../../support/sqlite.js'
import {message, refused} from '../conformance/story.js'
import {connect, newPath, openAt, openNew} from './open-store.js'

describe('the file of a store', () => {
  it('is for its owner alone, with all that lies beside it', async (t) => {
    const {path} = await openNew(t)
    for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}.lock`])
      assert.equal((await stat(file)).mode & 0o777, 0o600, file)
  })

  it('lies in a folder that is made for it', async (t) => {
    const path = await newPath(t)
    const store = await openAt(t, `${path}/deep/mesh.db`)
    await store.queueStats('')
    assert.equal((await stat(dirname(`${path}/deep/mesh.db`))).mode & 0o777, 0o700)
  })

  it('is written ahead, and flushed for everything but heartbeats', async (t) => {
    const levels: string[] = []
    const {pragma} = Driver.prototype
    Driver.prototype.pragma = function (this: Database, source, options) {
      if (source.startsWith('synchronous')) levels.push(source)
      return pragma.call(this, source, options)
    }
    t.after(() => {
      Driver.prototype.pragma = pragma
    })
    const {path, store} = await openNew(t)
    assert.equal(connect(t, path).pragma('journal_mode', {simple: true}), 'wal')
    const beat = () => store.heartbeat('', {facts: {id: 'n1'}, isFull: false})
    const writes: readonly [level: string, write: () => Promise<unknown>][] = [
      ['FULL', () => store.deliver('', message())],
      ['NORMAL', beat],
      ['NORMAL', beat],
      ['FULL', () => store.claim('', {receiver: '2', claimer: 'n1'})],
      ['NORMAL', beat],
      ['FULL', () => store.purge()],
    ]
    for (const [level, write] of writes) {
      await write()
      assert.equal(levels.at(-1), `synchronous = ${level}`)
    }
  })

  it('belongs to one control plane at a time, and may be read by anybody', async (t) => {
    const {path, store} = await openNew(t)
    await refused(openAt(t, path), 'store_busy')
    await refused(openAt(t, path), 'store_busy')
    const reader = connect(t, path)
    assert.equal(reader.prepare('SELECT count(*) FROM mesh_nodes').pluck().get(), 1)
    await store.close()
    const next = await openAt(t, path)
    assert.equal((await next.listNodes('', {limit: 5})).records.length, 1)
  })

  it('belongs to one control plane whatever it is called, also before it is there', async (t) => {
    const path = await newPath(t)
    const other = `${path}.link`
    await symlink(path, other)
    await openAt(t, other)
    await refused(openAt(t, path), 'store_busy')
    await refused(openAt(t, other), 'store_busy')
    assert.deepEqual(
      (await readdir(dirname(path))).filter((name) => name.endsWith('.lock')),
      [`${basename(path)}.lock`],
    )
  })

  it('has the tables that stand in the description of the mesh', async (t) => {
    const {path} = await openNew(t)
    const tables = connect(t, path)
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'mesh_%' ORDER BY name")
      .pluck()
      .all()
    assert.deepEqual(tables, [
      'mesh_audit',
      'mesh_bootstrap',
      'mesh_counters',
      'mesh_exec_leases',
      'mesh_jti',
      'mesh_messages',
      'mesh_node_beats',
      'mesh_node_seen',
      'mesh_nodes',
    ])
  })

  it('is refused where it is no database', async (t) => {
    const path = await newPath(t)
    await writeFile(path, 'this is not a database, whatever its name says '.repeat(50))
    await refused(openAt(t, path), 'store_damaged')
  })
})
