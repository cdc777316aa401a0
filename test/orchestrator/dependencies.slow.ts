import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {requireTask, submitBatch} from '../../src/orchestrator/index.js'
import {openTestOrchestrator} from './support/open-test-orchestrator.js'
import {fail, runAll} from './support/tasks.js'

describe('a chain of 10,000 tasks', () => {
  const chain = Array.from({length: 10_000}, (_, i) => ({
    description: 'link',
    ...(i > 0 ? {temp_deps: [i - 1]} : {}),
  }))

  it('runs link by link', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const links = submitBatch(orchestrator, chain).map(({task_id}) => task_id)
    assert.deepEqual(runAll(orchestrator, requireTask(orchestrator, 1).agent_id), links)
  })

  it('fails as a whole when its first link does', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const last = submitBatch(orchestrator, chain).at(-1)?.task_id ?? 0
    fail(orchestrator, 1)
    assert.equal(requireTask(orchestrator, last).status_reason, 'dependency_failed:T-9999')
    const left = orchestrator.store.get<{n: number}>("SELECT count(*) AS n FROM orch_tasks WHERE status <> 'Failed'")
    assert.equal(left?.n, 0)
  })
})
