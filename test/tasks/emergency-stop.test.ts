import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {reportStatus} from '../../src/orchestrator/index.js'
import {emergencyStop, failTask, readEvents, startOrchestrator, submitBatch, takeClaim} from '../../src/tasks/index.js'
import {ScriptedProcessor, startDaemon, untilAborted} from '../orchestrator/support/daemon.js'
import {openTestOrchestrator, refused, startMs} from '../orchestrator/support/open-test-orchestrator.js'
import {claimOf, statusOf, submit} from '../orchestrator/support/tasks.js'
import {until} from '../support/until.js'

describe('an emergency stop', () => {
  it('refuses submissions and claims in every process until the start', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {processor: 'external'})
    const {generation} = takeClaim(orchestrator, {owner: 'me'})
    assert.deepEqual(emergencyStop(orchestrator, 'fire'), [id])
    assert.equal(statusOf(orchestrator, id), 'Queued')
    const other = await openTestOrchestrator(t, {root: orchestrator.root, clock: orchestrator.clock})
    for (const one of [orchestrator, other]) {
      const {message} = refused('stopped', () => submit(one))
      assert.equal(message, 'The orchestrator was stopped in an emergency: fire.')
      refused('stopped', () => submitBatch(one, [{description: 'x'}]))
      refused('stopped', () => takeClaim(one, {owner: 'me'}))
      refused('claim_lost', () => failTask(one, id, 'late', {generation}))
      assert.deepEqual(reportStatus(one).stopped, {at_ms: startMs, reason: 'fire'})
    }
    assert.equal(startOrchestrator(other), true)
    assert.equal(startOrchestrator(orchestrator), false)
    assert.equal(reportStatus(orchestrator).stopped, null)
    assert.equal(takeClaim(orchestrator, {owner: 'me'}).task.id, id)
    assert.deepEqual(
      readEvents(orchestrator, {types: ['emergency_stop', 'orchestrator_started']}).map(({kind}) => kind),
      [{type: 'emergency_stop', requeued: 1, reason: 'fire'}, {type: 'orchestrator_started'}],
    )
  })

  it('ends the runs of the daemon, which starts nothing until the start', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    let aborted = 0
    const processor = new ScriptedProcessor((_, __, signal) => untilAborted(signal).finally(() => aborted++))
    const id = submit(orchestrator)
    await startDaemon(t, orchestrator, processor)
    await until(() => statusOf(orchestrator, id) === 'InProgress', 'the task runs')
    const other = await openTestOrchestrator(t, {root: orchestrator.root, clock: orchestrator.clock})
    const {generation} = claimOf(orchestrator, id)
    emergencyStop(other)
    assert.deepEqual([statusOf(orchestrator, id), claimOf(orchestrator, id).generation], ['Queued', generation + 1])
    await until(() => aborted === 1, 'the run ended')
    assert.deepEqual(processor.started, [id])
    startOrchestrator(other)
    await until(() => processor.started.length === 2, 'the task is started again')
  })
})
