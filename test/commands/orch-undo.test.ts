import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {LoggedOperation} from '../../src/orchestrator/index.js'
import {assertFits, type OrchWorkspace, orchWorkspace} from '../support/orch-workspace.js'

const operation = 'cli/orch-operation.v1'

async function oplog({json}: OrchWorkspace, ...args: string[]): Promise<LoggedOperation[]> {
  const log = await json<{operations: LoggedOperation[]}>('cli/orch-oplog.v1', ['orch', 'oplog', ...args])
  for (const each of log.operations) await assertFits(operation, each)
  return log.operations
}

describe('svc orch undo, redo and oplog', {concurrency: 3}, () => {
  it('undo and redo manual changes', async (t) => {
    const workspace = await orchWorkspace(t)
    const {submit, text, json, task, agents, events} = workspace
    await submit('x', '--processor', 'external')
    assert.equal(await text(['orch', 'oplog']), 'Nothing to undo.\n')
    await text(['orch', 'reorder', '1', 'urgent'])
    await text(['orch', 'agent', 'spawn', 'builder'])
    await text(['orch', 'agent', 'pause', 'builder'])
    assert.equal(await text(['orch', 'undo', 'OP-000003']), 'OP-000003 undone: builder (A-02) paused\n')
    assert.equal(await text(['orch', 'undo', '2']), 'OP-000002 undone: builder (A-02) spawned\n')
    const undone = await json<LoggedOperation>(operation, ['orch', 'undo', '1'])
    assert.deepEqual([undone.op_id, undone.undone, undone.task_id], ['OP-000001', true, 1])
    assert.equal((await task(1)).priority, 'normal')
    assert.deepEqual(
      (await agents()).map(({name}) => name),
      ['core'],
    )

    assert.equal(await text(['orch', 'redo', '2']), 'OP-000002 redone: builder (A-03) spawned\n')
    const redone = await json<LoggedOperation>(operation, ['orch', 'redo', 'OP-000001'])
    assert.equal(redone.undone, false)
    assert.equal((await task(1)).priority, 'urgent')
    assert.deepEqual(
      (await oplog(workspace)).map(({op_id, undone: is}) => [op_id, is]),
      [
        ['OP-000003', true],
        ['OP-000002', false],
        ['OP-000001', false],
      ],
    )
    assert.equal((await oplog(workspace, '--limit', '1')).length, 1)
    assert.match(
      await text(['orch', 'oplog']),
      /^OPERATION +AGE +STATE +WHAT\nOP-000003 +\d+s +undone +builder \(A-02\) paused\n/,
    )
    assert.equal((await events('--type', 'operation_undone', '--type', 'operation_redone')).length, 5)
    assert.match(
      await text(['orch', 'events', '--type', 'operation_redone']),
      /OP-000001 redone: T-0001 priority changed from normal to urgent/,
    )
  })

  it('undo a submission by its task id', async (t) => {
    const workspace = await orchWorkspace(t)
    const {submit, text, task} = workspace
    await submit('Write it', '-f', 'a.ts', '-p', 'urgent', '--processor', 'external')
    assert.equal(await text(['orch', 'undo', 'T-0001']), 'OP-000001 undone: T-0001 submitted: Write it\n')
    assert.equal((await task(1)).status, 'Cancelled')
    const again = 'OP-000001 redone: T-0002 submitted in place of T-0001: Write it\n'
    assert.equal(await text(['orch', 'redo', 'T-0001']), again)
    const {status, priority, file_manifest} = await task(2)
    assert.deepEqual([status, priority, file_manifest], ['Queued', 'urgent', [{path: 'a.ts', access: 'write'}]])
  })

  it('change nothing if the task or agent has changed since', async (t) => {
    const {submit, text, fails, task} = await orchWorkspace(t)
    await submit('x', '--processor', 'external')
    await text(['orch', 'reorder', '1', 'urgent'])
    await text(['orch', 'claim', '--as', 'me'])
    const started = await fails(['orch', 'undo', 'T-0001'], 4, 'operation_conflict')
    assert.equal(started, 'T-0001 cannot be undone: T-0001 is now InProgress.')
    await fails(['orch', 'undo', '1'], 4, 'operation_conflict')
    await fails(['orch', 'redo', '1'], 4, 'operation_conflict')
    await fails(['orch', 'undo', 'OP-000009'], 3, 'operation_not_found')
    await fails(['orch', 'undo', 'T-0009'], 3, 'task_not_found')
    await fails(['orch', 'undo', 'everything'], 2, 'usage')
    await fails(['orch', 'undo'], 2, 'usage')
    assert.equal((await task(1)).status, 'InProgress')
  })

  it('succeed for only one of two concurrent processes', async (t) => {
    const workspace = await orchWorkspace(t)
    const {submit, startInTurn, text, tasks} = workspace
    await submit('x', '--processor', 'external')
    const both = async (verb: string, which: string) => {
      const ends = await Promise.all([1, 2, 3].map(() => startInTurn(['orch', verb, which, '--json']).ended))
      for (const {stdout, exitCode} of ends)
        if (exitCode !== 0) assert.equal(JSON.parse(stdout).error.code, 'operation_conflict')
      return ends.map(({exitCode}) => exitCode).sort()
    }
    assert.deepEqual(await both('undo', 'T-0001'), [0, 4, 4])
    assert.deepEqual(await both('redo', 'OP-000001'), [0, 4, 4])
    assert.deepEqual(
      (await tasks()).map(({display_id, status}) => [display_id, status]),
      [
        ['T-0002', 'Queued'],
        ['T-0001', 'Cancelled'],
      ],
    )
    await text(['orch', 'reorder', '2', 'urgent'])
    assert.deepEqual(await both('undo', '2'), [0, 4, 4])
    assert.equal((await oplog(workspace)).length, 2)
  })

  it('succeed only for the first of a concurrent undo and claim', async (t) => {
    const {submit, startInTurn, tasks} = await orchWorkspace(t)
    for (let i = 1; i <= 4; i++) {
      const id = await submit('x', '--processor', 'external')
      const [undo, claim] = await Promise.all([
        startInTurn(['orch', 'undo', id, '--json']).ended,
        startInTurn(['orch', 'claim', '--as', 'me', '--json']).ended,
      ])
      const [found] = await tasks('--limit', '1')
      assert.equal(undo.exitCode === 0, claim.exitCode !== 0, `${undo.stdout}${claim.stdout}`)
      assert.equal(found?.status, undo.exitCode === 0 ? 'Cancelled' : 'InProgress')
    }
  })
})
