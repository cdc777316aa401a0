import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {Database} from 'better-sqlite3'
import {Driver} from '../../../support/sqlite.js'
import {message} from '../conformance/story.js'
import {connect, newPath, openAt} from './open-store.js'

/** Collects all statements that a store prepares. */
async function statementsOf(work: () => Promise<unknown>): Promise<{opening: string[]}> {
  const opening: string[] = []
  const {prepare} = Driver.prototype
  Driver.prototype.prepare = function (this: Database, sql: string) {
    opening.push(sql)
    return prepare.call(this, sql)
  } as typeof prepare
  try {
    await work()
  } finally {
    Driver.prototype.prepare = prepare
  }
  return {opening}
}

/** Statements with a full table scan, which run only when the store is opened. */
const wholeReads = [
  /^SELECT \* FROM mesh_nodes LEFT JOIN mesh_node_seen/,
  /^SELECT beat, beats FROM mesh_node_beats/,
  /^SELECT scope_id, receiver, task_kind, priority, CASE/,
  /^SELECT count\(\*\) FROM mesh_jti/,
]

/** Statements that sort only the few messages of one node. */
const sorts = [/^SELECT \* FROM mesh_messages WHERE scope_id = @scope AND holder = @claimer/]

const isOneOf = (patterns: readonly RegExp[], sql: string) => patterns.some((pattern) => pattern.test(sql))

describe('SQL statements', () => {
  it('use an index', async (t) => {
    const path = await newPath(t)
    const {opening} = await statementsOf(async () => {
      const store = await openAt(t, path)
      await store.join('', {id: 'n1', version: '1.0.0', capabilities: {}})
      await store.deliver('', message({idempotency_key: 'key'}))
      await store.claim('', {receiver: '2', claimer: 'n1', exclude: [7], excludeSenders: ['8'], types: ['a']})
      await store.grantLease('', {scopeKey: 'task:1', claimer: 'n1'})
      await store.putBlob('', {sha256: 'a', bytes: Buffer.alloc(1)})
      await store.getBlob('', 'a')
      await store.listDead('', {limit: 5})
      await store.listAudit('', {limit: 5})
      await store.queueStats('')
      await store.leave('', 'n1')
      await store.purge()
    })
    const database = connect(t, path)
    database.function('mesh_meets', (_requirements) => 1)
    const sqls = [...new Set(opening)].filter((sql) => /^(SELECT|UPDATE|DELETE)/.test(sql) && /mesh_/.test(sql))
    assert.ok(sqls.length > 30, `${sqls.length} statements`)
    for (const sql of sqls) {
      if (isOneOf(wholeReads, sql)) continue
      const plan = database
        .prepare(`EXPLAIN QUERY PLAN ${sql.replaceAll(/@\w+/g, '?')}`)
        .all(...Array.from({length: [...sql.matchAll(/\?|@\w+/g)].length}, () => null)) as {detail: string}[]
      const text = plan.map(({detail}) => detail).join('\n')
      assert.doesNotMatch(text, /SCAN mesh_\w+$/m, `${sql}\n${text}`)
      if (!isOneOf(sorts, sql)) assert.doesNotMatch(text, /TEMP B-TREE/, `${sql}\n${text}`)
    }
  })

  it('select the next message in index order', async (t) => {
    const path = await newPath(t)
    await (await openAt(t, path)).close()
    const plan = connect(t, path)
      .prepare(
        `EXPLAIN QUERY PLAN SELECT * FROM mesh_messages WHERE scope_id = ? AND receiver = ? AND acked_at IS NULL AND dead_at IS NULL
AND holder IS NULL ORDER BY priority DESC, id LIMIT 1`,
      )
      .all('', '2') as {detail: string}[]
    assert.deepEqual(
      plan.map(({detail}) => detail),
      ['SEARCH mesh_messages USING INDEX mesh_messages_waiting (scope_id=? AND receiver=?)'],
    )
  })
})
