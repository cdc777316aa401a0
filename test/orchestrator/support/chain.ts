import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {requireTask, submitBatch} from '../../../src/tasks/index.js'
import {openTestOrchestrator} from './open-test-orchestrator.js'
import {fail, runAll} from './tasks.js'

/** Tests of a chain of dependent tasks. */
export function describeChain(length: number): void {
  describe(`a chain of ${length} tasks`, () => {
    const chain = Array.from({length}, (_, i) => ({description: 'link', ...(i > 0 ? {temp_deps: [i - 1]} : {})}))

    it('runs in order', async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const links = submitBatch(orchestrator, chain).map(({task_id}) => task_id)
      assert.equal(links.length, length)
      assert.deepEqual(runAll(orchestrator, requireTask(orchestrator, 1).agent_id), links)
    })

    it('fails as a whole when its first link does', async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const last = submitBatch(orchestrator, chain).at(-1)?.task_id ?? 0
      fail(orchestrator, 1)
      const before = `T-${String(length - 1).padStart(4, '0')}`
      assert.equal(requireTask(orchestrator, last).status_reason, `dependency_failed:${before}`)
      const left = orchestrator.store.get<{n: number}>("SELECT count(*) AS n FROM orch_tasks WHERE status <> 'Failed'")
      assert.equal(left?.n, 0)
    })
  })
}
