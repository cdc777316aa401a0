import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {relatedTasks} from '../../src/tasks/index.js'
import {openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'
import {complete, submit} from '../orchestrator/support/tasks.js'

const idsOf = (tasks: readonly {task_id: number}[]) => tasks.map(({task_id}) => task_id)

describe('related tasks', () => {
  it('are those before and after a task, also indirectly, the nearest first and each once', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const first = submit(orchestrator, {description: 'Fetch\nall of it'})
    const left = submit(orchestrator, {depends_on: [first]})
    const right = submit(orchestrator, {depends_on: [first]})
    const middle = submit(orchestrator, {depends_on: [left, right]})
    const next = submit(orchestrator, {depends_on: [middle]})
    const last = submit(orchestrator, {depends_on: [middle, next]})
    submit(orchestrator)
    complete(orchestrator, first)
    const {prerequisites, dependants, truncated} = relatedTasks(orchestrator, middle, {limit: 10})
    assert.deepEqual(idsOf(prerequisites), [left, right, first])
    assert.deepEqual(idsOf(dependants), [next, last])
    assert.deepEqual(prerequisites.at(-1), {
      task_id: first,
      display_id: 'T-0001',
      description: 'Fetch',
      status: 'Completed',
      depends_on: [],
    })
    assert.deepEqual(
      dependants.map(({depends_on}) => depends_on),
      [[middle], [middle, next]],
    )
    assert.equal(truncated, false)
  })

  it('are limited in each direction', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const first = submit(orchestrator)
    const middle = submit(orchestrator, {depends_on: [first]})
    const all = Array.from({length: 3}, () => submit(orchestrator, {depends_on: [middle]}))
    const {prerequisites, dependants, truncated} = relatedTasks(orchestrator, middle, {limit: 2})
    assert.deepEqual([idsOf(prerequisites), idsOf(dependants), truncated], [[first], all.slice(0, 2), true])
    assert.equal(relatedTasks(orchestrator, middle, {limit: 3}).truncated, false)
  })

  it('of a task that does not exist are refused', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    refused('task_not_found', () => relatedTasks(orchestrator, 7, {limit: 1}))
  })
})
