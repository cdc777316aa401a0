import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {spawnAgent} from '../../src/orchestrator/index.js'
import {cancelTask, requireTask, retireAgent, retryTask} from '../../src/tasks/index.js'
import {contents, openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'
import {complete, fail, runAll, startOne, statusOf, submit, submitWriter} from '../orchestrator/support/tasks.js'

const idsOf = (tasks: readonly {id: number}[]) => tasks.map(({id}) => id)

describe('a retried task', () => {
  it('keeps its place in the queue', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const first = submit(orchestrator)
    const second = submit(orchestrator)
    fail(orchestrator, first)
    const [task] = retryTask(orchestrator, first)
    assert.deepEqual([task?.status, task?.retry_count, task?.status_reason], ['Queued', 1, undefined])
    assert.equal(task?.finished_at_ms, undefined)
    assert.deepEqual(runAll(orchestrator, task?.agent_id ?? 0), [first, second])
  })

  it('waits for its dependencies again', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    const child = submit(orchestrator, {depends_on: [parent]})
    fail(orchestrator, parent)
    refused('dependency_failed', () => retryTask(orchestrator, child))
    assert.deepEqual(idsOf(retryTask(orchestrator, parent)), [parent])
    assert.equal(statusOf(orchestrator, child), 'Failed')
    assert.equal(retryTask(orchestrator, child)[0]?.status, 'Blocked')
    assert.equal(requireTask(orchestrator, child).blocked_on, parent)
    complete(orchestrator, parent)
    complete(orchestrator, child)
  })

  it('also retries the tasks that failed because of it', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    const child = submit(orchestrator, {depends_on: [parent]})
    const grandchild = submit(orchestrator, {depends_on: [child]})
    const stranger = submit(orchestrator)
    fail(orchestrator, parent)
    fail(orchestrator, stranger)
    assert.deepEqual(idsOf(retryTask(orchestrator, parent, {dependants: true})), [parent, child, grandchild])
    assert.equal(statusOf(orchestrator, stranger), 'Failed')
    for (const id of [parent, child, grandchild]) complete(orchestrator, id)
  })

  it('also retries dependants with both direct and indirect dependencies', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    const near = submit(orchestrator, {depends_on: [parent]})
    const middle = submit(orchestrator, {depends_on: [near]})
    const far = submit(orchestrator, {depends_on: [parent, middle]})
    fail(orchestrator, parent)
    const retried = idsOf(retryTask(orchestrator, parent, {dependants: true}))
    assert.deepEqual(new Set(retried), new Set([parent, near, middle, far]))
    for (const id of [parent, near, middle, far]) complete(orchestrator, id)
  })

  it('is retried even if a dependant has another failed dependency', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const parent = submit(orchestrator)
    const other = submit(orchestrator)
    const child = submit(orchestrator, {depends_on: [parent, other]})
    fail(orchestrator, parent)
    fail(orchestrator, other)
    assert.deepEqual(idsOf(retryTask(orchestrator, parent, {dependants: true})), [parent])
    assert.deepEqual([statusOf(orchestrator, parent), statusOf(orchestrator, child)], ['Queued', 'Failed'])
  })

  it('moves to another agent if its own has retired', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const task = submit(orchestrator, {target_agent: 'worker'})
    spawnAgent(orchestrator, {name: 'other'})
    fail(orchestrator, task)
    retireAgent(orchestrator, 'worker')
    const [retried] = retryTask(orchestrator, task)
    assert.ok(['core', 'other'].includes(retried?.agent_name ?? ''), `it went to ${retried?.agent_name}`)
    assert.equal(startOne(orchestrator, retried?.agent_id ?? 0), task)
  })

  it('is rejected unchanged while another agent has locked its files', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const task = submitWriter(orchestrator, ['a.ts'], {target_agent: 'one'})
    fail(orchestrator, task)
    submitWriter(orchestrator, ['a.ts'], {target_agent: 'two'})
    const before = contents(orchestrator)
    const {params} = refused('lock_conflict', () => retryTask(orchestrator, task))
    assert.deepEqual(params, {path: 'a.ts', holder: 'two', kind: 'exclusively_held'})
    assert.deepEqual(contents(orchestrator), before)
    orchestrator.clock.ms += 30_001
    assert.equal(retryTask(orchestrator, task)[0]?.status, 'Queued')
  })

  it('can be retried after being cancelled, but not after being completed', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const task = submit(orchestrator)
    fail(orchestrator, task)
    cancelTask(orchestrator, task)
    assert.equal(retryTask(orchestrator, task)[0]?.status, 'Queued')
    complete(orchestrator, task)
    refused('invalid_transition', () => retryTask(orchestrator, task))
  })
})
