import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {reportStatus} from '../../src/orchestrator/index.js'
import {cancelTask, claimTask, completeTask, failTask, readEvents, requireTask} from '../../src/tasks/index.js'
import {releaseTask, retryPauseMs} from '../../src/tasks/lifecycle/finish.js'
import {requireRow} from '../../src/tasks/lifecycle/task-rows.js'
import {openTestOrchestrator, refused, startMs} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask, start, startOne, statusOf, submit} from '../orchestrator/support/tasks.js'

describe('a finished task', () => {
  it('has its result and times and counts for its agent if it succeeded', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator)
    orchestrator.clock.ms += 10
    start(orchestrator, id)
    orchestrator.clock.ms += 20
    const {outcome, task} = acceptTask(orchestrator, id, {text: 'done', exit_status: 0}, {generation: 1})
    assert.equal(outcome, 'completed')
    const {status, result, created_at_ms, started_at_ms, finished_at_ms} = task
    assert.deepEqual(
      {status, result, created_at_ms, started_at_ms, finished_at_ms},
      {
        status: 'Completed',
        result: {text: 'done', exit_status: 0},
        created_at_ms: startMs,
        started_at_ms: startMs + 10,
        finished_at_ms: startMs + 30,
      },
    )
    const {agents, total_completed, total_weighted_load} = reportStatus(orchestrator)
    assert.deepEqual([agents[0]?.completed, total_completed, total_weighted_load], [1, 1, 0])
  })

  it('has its reason if it failed', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = start(orchestrator, submit(orchestrator))
    const {status, status_reason, finished_at_ms} = failTask(orchestrator, id, 'The tests are red.', {generation: 1})
    assert.deepEqual([status, status_reason, finished_at_ms], ['Failed', 'The tests are red.', startMs])
    const [event] = readEvents(orchestrator, {types: ['task_failed']})
    assert.equal(event?.kind.type === 'task_failed' && event.kind.error, 'The tests are red.')
  })

  it('has its reason if it was cancelled, and its claim becomes invalid', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = start(orchestrator, submit(orchestrator))
    const {claim_generation: generation} = requireRow(orchestrator, id)
    const {status, status_reason} = cancelTask(orchestrator, id, {reason: 'not needed'})
    assert.deepEqual([status, status_reason], ['Cancelled', 'not needed'])
    refused('claim_lost', () => acceptTask(orchestrator, id, undefined, {generation}))
    const [event] = readEvents(orchestrator, {types: ['task_cancelled']})
    assert.deepEqual(event?.kind, {type: 'task_cancelled', task_id: id, agent_id: 1, reason: 'not needed'})
  })

  it('answers a repeated completion under the same claim like the first', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = start(orchestrator, submit(orchestrator))
    const first = acceptTask(orchestrator, id, {text: 'done'}, {generation: 1})
    const events = readEvents(orchestrator, {}).length
    assert.deepEqual(acceptTask(orchestrator, id, {text: 'done'}, {generation: 1}), first)
    assert.deepEqual(await completeTask(orchestrator, id, {text: 'done'}, {generation: 1}), first)
    assert.equal(readEvents(orchestrator, {}).length, events)
    refused('claim_lost', () => failTask(orchestrator, id, 'It failed.', {generation: 1}))
    refused('claim_lost', () => acceptTask(orchestrator, id, {text: 'done'}, {generation: 2}))
  })

  it('answers a repeated failure under the same claim like the first, also if it is queued again', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = start(orchestrator, submit(orchestrator, {retries: 1}))
    const first = failTask(orchestrator, id, 'The tests are red.', {generation: 1})
    assert.equal(first.status, 'Queued')
    assert.deepEqual(failTask(orchestrator, id, 'The tests are red.', {generation: 1}), first)
    assert.equal(requireRow(orchestrator, id).fault_count, 1)
    refused('claim_lost', () => acceptTask(orchestrator, id, {text: 'done'}, {generation: 1}))
  })

  it('has lost the claim of a worker if somebody else ended it by force', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {processor: 'external'})
    const claimed = await claimTask(orchestrator, {owner: 'worker', ttlMs: 60_000})
    assert.equal(claimed?.task.id, id)
    acceptTask(orchestrator, id, {text: 'by hand'}, {force: true})
    refused('claim_lost', () => acceptTask(orchestrator, id, {text: 'done'}, {generation: claimed?.generation}))
  })

  it('is included in the queue lengths and loads of the status', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const urgent = submit(orchestrator, {priority: 'urgent'})
    submit(orchestrator, {enqueue_hints: {complexity: 10}})
    submit(orchestrator, {priority: 'background'})
    start(orchestrator, urgent)
    const {total_weighted_load, total_queued, total_in_progress, agents} = reportStatus(orchestrator)
    assert.deepEqual([total_weighted_load, total_queued, total_in_progress], [5.4, 2, 1])
    const [agent] = agents
    assert.deepEqual(
      [agent?.queued, agent?.queued_normal, agent?.queued_background, agent?.queued_urgent, agent?.running],
      [2, 1, 1, 0, 1],
    )
  })
})

describe('a task after an infrastructure failure', () => {
  it('waits a second, then two, four, and never more than a minute', () => {
    assert.deepEqual([0, 1, 2, 5, 6, 19].map(retryPauseMs), [1000, 2000, 4000, 32_000, 60_000, 60_000])
  })

  it('does not start before its pause has ended, while others do', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: '[orchestrator]\nmax_task_retries = 2\n'})
    const [id, other] = [submit(orchestrator), submit(orchestrator)]
    const giveBack = () => {
      start(orchestrator, id)
      const {claim_generation: generation} = requireRow(orchestrator, id)
      return releaseTask(orchestrator, id, 'connection refused', {generation})
    }
    const {status, status_reason, not_before_ms} = giveBack()
    assert.deepEqual([status, status_reason, not_before_ms], ['Queued', 'connection refused', startMs + 1000])
    assert.equal(startOne(orchestrator, 1), other)
    orchestrator.clock.ms += 999
    assert.equal(startOne(orchestrator, 1), undefined)
    orchestrator.clock.ms += 1
    assert.equal(giveBack().not_before_ms, orchestrator.clock.ms + 2000)
    orchestrator.clock.ms += 2000
    assert.equal(giveBack().status, 'Failed')
    assert.equal(requireTask(orchestrator, id).status_reason, 'connection refused')
  })

  it('does not wait an hour if the clock is set back by an hour', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: '[orchestrator]\nmax_task_retries = 2\n'})
    const id = start(orchestrator, submit(orchestrator))
    releaseTask(orchestrator, id, 'connection refused', {generation: 1})
    orchestrator.clock.ms -= 3_600_000
    assert.equal(startOne(orchestrator, 1), id)
    assert.equal(statusOf(orchestrator, id), 'InProgress')
  })
})
