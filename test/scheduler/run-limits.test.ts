import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {redoOperation, undoOperation} from '../../src/orchestrator/index.js'
import {approveTask, failTask, listTasks, requireTask, takeClaim} from '../../src/tasks/index.js'
import {releaseTask} from '../../src/tasks/lifecycle/finish.js'
import {ScriptedProcessor, startDaemon, untilAborted} from '../orchestrator/support/daemon.js'
import {openTestOrchestrator, refused, startMs} from '../orchestrator/support/open-test-orchestrator.js'
import {claimOf, fail, start, startOne, statusOf, submit, submitWriter} from '../orchestrator/support/tasks.js'
import {until} from '../support/until.js'

const hourMs = 3_600_000

describe('a task with not_before_ms', () => {
  it('is not started before that time, while others are', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const later = submit(orchestrator, {not_before_ms: startMs + hourMs, priority: 'urgent'})
    const now = submit(orchestrator)
    assert.equal(requireTask(orchestrator, later).not_before_ms, startMs + hourMs)
    const {clock, root} = orchestrator
    const other = await openTestOrchestrator(t, {root, clock})
    assert.equal(startOne(other, 1), now)
    clock.ms += hourMs - 1
    assert.equal(startOne(other, 1), undefined)
    clock.ms += 1
    assert.equal(startOne(other, 1), later)
  })

  it('cannot be claimed before that time', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {processor: 'external', not_before_ms: startMs + hourMs})
    refused('no_task_to_claim', () => takeClaim(orchestrator, {owner: 'me'}))
    orchestrator.clock.ms += hourMs
    assert.equal(takeClaim(orchestrator, {owner: 'me'}).task.id, id)
  })

  it('reserves no files until then, even if it is approved', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const asked = {not_before_ms: startMs + hourMs, requires_approval: true}
    approveTask(orchestrator, submitWriter(orchestrator, ['a.ts'], {...asked, target_agent: 'one'}))
    submitWriter(orchestrator, ['a.ts'], {not_before_ms: startMs + hourMs, target_agent: 'two'})
    submitWriter(orchestrator, ['a.ts'], {target_agent: 'three'})
  })

  it('is started by a running daemon at that time', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const processor = new ScriptedProcessor()
    const id = submit(orchestrator, {not_before_ms: startMs + hourMs})
    await startDaemon(t, orchestrator, processor)
    const other = submit(orchestrator)
    await until(() => statusOf(orchestrator, other) === 'Completed', 'the other task is completed')
    assert.deepEqual(processor.started, [other])
    orchestrator.clock.ms += hourMs
    await until(() => statusOf(orchestrator, id) === 'Completed', 'the task is completed')
  })

  it('keeps its start time, time limit and retries after undo and redo', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const asked = {not_before_ms: startMs + hourMs, task_timeout_ms: 5000, retries: 3}
    submit(orchestrator, asked)
    undoOperation(orchestrator, 'T-0001')
    redoOperation(orchestrator, 'T-0001')
    const [{id, not_before_ms, task_timeout_ms, retries} = assert.fail()] = listTasks(orchestrator)
    assert.deepEqual([id, {not_before_ms, task_timeout_ms, retries}], [2, asked])
  })

  it('is the same task under its key even with another start time', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {idempotency_key: 'k', not_before_ms: startMs + 1})
    assert.equal(submit(orchestrator, {idempotency_key: 'k', not_before_ms: startMs + 2}), id)
    refused('idempotency_mismatch', () => submit(orchestrator, {idempotency_key: 'k', retries: 1}))
  })
})

describe('a task with retries', () => {
  it('is requeued after each failure with longer pauses, and fails after the last one', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {retries: 2})
    const dependant = submit(orchestrator, {depends_on: [id]})
    for (const pauseMs of [1000, 2000]) {
      const {status, status_reason: reason, not_before_ms: due} = fail(orchestrator, id, 'red')
      assert.deepEqual([status, reason, due], ['Queued', 'red', orchestrator.clock.ms + pauseMs])
      assert.equal(startOne(orchestrator, 1), undefined)
      orchestrator.clock.ms += pauseMs
    }
    assert.equal(statusOf(orchestrator, dependant), 'Blocked')
    const {status, retry_count: count} = fail(orchestrator, id, 'red')
    assert.deepEqual([status, count, statusOf(orchestrator, dependant)], ['Failed', 2, 'Failed'])
  })

  it('counts infrastructure failures as retries instead of max_task_retries', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: '[orchestrator]\nmax_task_retries = 5\n'})
    const id = submit(orchestrator, {retries: 1})
    fail(orchestrator, id)
    orchestrator.clock.ms += 1000
    start(orchestrator, id)
    assert.equal(releaseTask(orchestrator, id, 'refused', claimOf(orchestrator, id)).status, 'Failed')
  })

  it('fails immediately if failed by force or with a permanent error', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const forced = start(orchestrator, submit(orchestrator, {retries: 1, target_agent: 'one'}))
    assert.equal(failTask(orchestrator, forced, 'wrong', {force: true}).status, 'Failed')
    const final = start(orchestrator, submit(orchestrator, {retries: 1, target_agent: 'two'}))
    const finisher = {...claimOf(orchestrator, final), isFinal: true}
    assert.equal(failTask(orchestrator, final, 'no such template', finisher).status, 'Failed')
  })
})

describe('a task with task_timeout_ms', () => {
  it('overrides the time limit of the workspace', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {clock: 'real'})
    const processor = new ScriptedProcessor((_, __, signal) => untilAborted(signal))
    await startDaemon(t, orchestrator, processor)
    const id = submit(orchestrator, {task_timeout_ms: 50})
    await until(() => statusOf(orchestrator, id) === 'Failed', 'the task has failed')
    assert.equal(requireTask(orchestrator, id).status_reason, 'timeout')
  })

  it('is taken from a slow client and requeued while it has retries', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {processor: 'external', task_timeout_ms: 5000, retries: 1})
    for (const status of ['Queued', 'Failed']) {
      takeClaim(orchestrator, {owner: 'me'})
      orchestrator.clock.ms += 5001
      refused('no_task_to_claim', () => takeClaim(orchestrator, {owner: 'you'}))
      const {status: found, status_reason: reason} = requireTask(orchestrator, id)
      assert.deepEqual([found, reason], [status, 'timeout'])
      orchestrator.clock.ms += 1000
    }
  })
})
