import assert from 'node:assert/strict'
import {readdir, stat, symlink, writeFile} from 'node:fs/promises'
import {basename, dirname} from 'node:path'
import {describe, it} from 'node:test'
import type {Database} from 'better-sqlite3'
import {Driver} from '../../../support/sqlite.js'
import {message, refused} from '../conformance/story.js'
import {connect, newPath, openAt, openNew} from './open-store.js'

describe('database file', () => {
  it('is private, including its additional files', async (t) => {
    const {path} = await openNew(t)
    for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}.lock`])
      assert.equal((await stat(file)).mode & 0o777, 0o600, file)
  })

  it('is created with its folder', async (t) => {
    const path = await newPath(t)
    const store = await openAt(t, `${path}/deep/mesh.db`)
    await store.queueStats('')
    assert.equal((await stat(dirname(`${path}/deep/mesh.db`))).mode & 0o777, 0o700)
  })

  it('uses a write-ahead log that is flushed except for heartbeats', async (t) => {
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

  it('can be opened by one control plane and read by other processes', async (t) => {
    const {path, store} = await openNew(t)
    await refused(openAt(t, path), 'store_busy')
    await refused(openAt(t, path), 'store_busy')
    const reader = connect(t, path)
    assert.equal(reader.prepare('SELECT count(*) FROM mesh_nodes').pluck().get(), 1)
    await store.close()
    const next = await openAt(t, path)
    assert.equal((await next.listNodes('', {limit: 5})).records.length, 1)
  })

  it('is locked under all its names, even before it exists', async (t) => {
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

  it('has the documented tables', async (t) => {
    const {path} = await openNew(t)
    const tables = connect(t, path)
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'mesh_%' ORDER BY name")
      .pluck()
      .all()
    assert.deepEqual(tables, [
      'mesh_audit',
      'mesh_blobs',
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

  it('is refused if it is not a database', async (t) => {
    const path = await newPath(t)
    await writeFile(path, 'this is not a database, whatever its name says '.repeat(50))
    await refused(openAt(t, path), 'store_damaged')
  })
})
