import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {listOperations, spawnAgent, undoOperation} from '../../../src/orchestrator/index.js'
import {submissionSql} from '../../../src/orchestrator/operation-log/operation-rows.js'
import {pruneOperations, pruneSql} from '../../../src/orchestrator/operation-log/prune.js'
import {until} from '../../support/until.js'
import {ScriptedProcessor, startDaemon} from '../support/daemon.js'
import {openTestOrchestrator, refused} from '../support/open-test-orchestrator.js'

const day = 86_400_000

describe('pruneOperations', () => {
  it('deletes operations older than the limit, which can then no longer be undone', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    spawnAgent(orchestrator, {name: 'a'})
    orchestrator.clock.ms += day
    spawnAgent(orchestrator, {name: 'b'})
    orchestrator.clock.ms += 9 * day
    assert.equal(pruneOperations(orchestrator, 10), 0)
    orchestrator.clock.ms++
    assert.equal(pruneOperations({...orchestrator, repositoryId: 'another'}, 10), 0)
    assert.equal(pruneOperations(orchestrator, 10), 1)
    refused('operation_not_found', () => undoOperation(orchestrator, '1'))
    assert.deepEqual(
      listOperations(orchestrator).map(({op_id}) => op_id),
      ['OP-000002'],
    )
  })

  it('runs in the daemon with the retention of events', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {
      clock: 'real',
      toml: '[orchestrator]\nevent_retention_days = 3\n',
    })
    for (const name of ['a', 'b']) spawnAgent(orchestrator, {name})
    const ago = (days: number, id: number) =>
      orchestrator.store.run('UPDATE agent_oplog SET timestamp_ms = ? WHERE id = ?', [Date.now() - days * day, id])
    ago(3.1, 1)
    ago(2.9, 2)
    await startDaemon(t, orchestrator, new ScriptedProcessor())
    await until(() => listOperations(orchestrator).length === 1, 'the maintenance of the daemon')
    assert.equal(listOperations(orchestrator)[0]?.op_id, 'OP-000002')
  })
})

describe('the table of operations', () => {
  for (const {name, sql, params, index} of [
    {name: 'submissions of a task', sql: submissionSql, params: ['r', 1], index: 'submissions'},
    {name: 'old operations', sql: pruneSql, params: ['r', 0, 10], index: 'age'},
  ])
    it(`finds ${name} by the index agent_oplog_${index} without a scan or a sort`, async (t) => {
      const {store} = await openTestOrchestrator(t)
      const steps = store.all<{detail: string}>(`EXPLAIN QUERY PLAN ${sql}`, params).map(({detail}) => detail)
      const searches = new RegExp(
        `^SEARCH agent_oplog USING (COVERING )?INDEX agent_oplog_${index} \\(repository_id=\\? AND `,
      )
      assert.ok(
        steps.some((step) => searches.test(step)),
        steps.join('\n'),
      )
      assert.ok(!steps.some((step) => step.startsWith('SCAN') || step.includes('B-TREE')), steps.join('\n'))
    })
})
