import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {openWorkspace} from '../../src/cli/open-workspace.js'
import {contractViolations, type RetentionPolicy, readRetentionPolicy} from '../../src/contracts/index.js'
import {pruneMessages} from '../../src/messages/index.js'
import {describeDatabase, openDatabase} from '../../src/store/index.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {temporaryFolder} from '../support/temporary.js'

const policy: RetentionPolicy = await readRetentionPolicy()
const rules = Object.entries(policy.tables)
const deleting = rules.flatMap(([table, rule]) => ('time_column' in rule ? [{table, ...rule}] : []))

/** Path of a workspace store with the tables of all modules. */
async function createStore(test: TestContext): Promise<string> {
  const root = await temporaryFolder(test)
  const {orchestrator} = await openWorkspace(root, {env: {SVC_DATA_DIR: root}, file: undefined})
  const {path} = orchestrator.store
  orchestrator.close()
  return path
}

describe('the retention policy', () => {
  it('has a rule for each table of the workspace store, and for no other', async (test) => {
    const {tables} = await describeDatabase(await createStore(test))
    assert.deepEqual(rules.map(([table]) => table).sort(), tables.map(({name}) => name).sort())
  })

  it('explains each rule', () => {
    for (const [table, {description = ''}] of rules) assert.match(description, /^[A-Z].*\.$/, table)
  })

  it('compares time columns with times of their type', async (test) => {
    const database = await openDatabase(await createStore(test), {readonly: true})
    const typeOf = database.prepare('SELECT type FROM pragma_table_info(?) WHERE name = ?').pluck()
    for (const {table, kind, time_column: column} of deleting)
      assert.equal(typeOf.get(table, column), kind === 'days' ? 'TEXT' : 'INTEGER', `${table}.${column}`)
    for (const {kind, time_column: column} of deleting) if (kind !== 'days') assert.match(column, /_ms$/)
    database.close()
  })

  it('deletes no rows to which another table refers', async (test) => {
    const database = await openDatabase(await createStore(test), {readonly: true})
    const references = `SELECT f."table" FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table'`
    const targets = new Set(database.prepare(references).pluck().all())
    database.close()
    assert.ok(targets.has('orch_tasks'))
    assert.deepEqual(
      deleting.filter((rule) => targets.has(rule.table) && !('parts' in rule)),
      [],
    )
  })

  it('has the retention that the daemon applies to acknowledged messages', async (test) => {
    const rule = policy.tables.a2a_messages
    assert.ok(rule?.kind === 'ms_days')
    const orchestrator = await openTestOrchestrator(test)
    const {store, clock} = orchestrator
    store.run(
      `INSERT INTO orch_agents (repository_id, name, kind, state, capabilities, created_at_ms, last_active_ms)
VALUES (?, 'one', 'dynamic', 'active', '{}', 0, 0)`,
      [orchestrator.repositoryId],
    )
    store.run(
      `INSERT INTO a2a_messages (message_uuid, repository_id, sender_agent, receiver_agent, msg_type, priority,
  created_at_ms, acknowledged_at_ms, payload) VALUES ('m', ?, 1, 1, 'free_form', 1, 0, ?, '')`,
      [orchestrator.repositoryId, clock.ms],
    )
    clock.ms += rule.days * 86_400_000
    assert.equal(pruneMessages(orchestrator), 0)
    clock.ms += 1
    assert.equal(pruneMessages(orchestrator), 1)
  })

  const change = (rule: object) => ({...policy, tables: {...policy.tables, research_metrics: rule}})
  for (const [defect, document] of [
    ['an unknown kind', change({kind: 'weeks', days: 1, time_column: 'at'})],
    ['an age without a time column', change({kind: 'days', days: 1})],
    ['an age of 0 days', change({kind: 'ms_days', days: 0, time_column: 'at'})],
    ['an age of kept rows', change({kind: 'keep_forever', days: 1})],
    ['an expiry without a time column', change({kind: 'expires_lt_now'})],
    ['an unknown member', change({kind: 'manual', owner: 'me'})],
    ['no tables', {...policy, tables: {}}],
    ['another version', {...policy, version: 2}],
  ] as const)
    it(`with ${defect} violates its schema`, async () => {
      assert.deepEqual(await contractViolations('db/retention-policy', policy), [])
      assert.notDeepEqual(await contractViolations('db/retention-policy', document), [])
    })
})
