import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {spawnAgent} from '../../src/orchestrator/index.js'
import {awardForResolutions} from '../../src/tasks/events/awards.js'
import {awardsOf, doubtTask, requireTask, resolveDoubt, retireAgent} from '../../src/tasks/index.js'
import {openTestOrchestrator, startMs} from '../orchestrator/support/open-test-orchestrator.js'
import {submit} from '../orchestrator/support/tasks.js'

describe('the award for a doubt', () => {
  const reports: readonly [validated: boolean, report: string, awards: readonly (readonly [string, number])[]][] = [
    [false, 'The table was missing.', [['healthy_skepticism', 200]]],
    [
      false,
      'The reviewer was over-agreeable: it agreed with everything.',
      [
        ['healthy_skepticism', 200],
        ['internal_affairs', 200],
      ],
    ],
    [
      false,
      'A case of Sycophancy.',
      [
        ['healthy_skepticism', 200],
        ['internal_affairs', 200],
      ],
    ],
    [true, 'All was well.', [['blind_faith', 0]]],
  ]
  for (const [validated, report, expected] of reports)
    it(`is granted if it was ${validated ? 'not ' : ''}justified: ${report}`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const id = submit(orchestrator)
      const {agent_id} = requireTask(orchestrator, id)
      doubtTask(orchestrator, id)
      resolveDoubt(orchestrator, id, {validated, report})
      assert.deepEqual(
        awardsOf(orchestrator, id),
        expected.map(([award, points]) => ({task_id: id, agent_id, award, points, report, awarded_at_ms: startMs})),
      )
    })

  it('is granted once, even if the events are processed again', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator)
    doubtTask(orchestrator, id)
    resolveDoubt(orchestrator, id, {validated: false, report: 'yes-man'})
    const awards = awardsOf(orchestrator, id)
    assert.equal(awards.length, 2)
    orchestrator.clock.ms += 1000
    awardForResolutions(orchestrator)
    orchestrator.store.run("DELETE FROM orch_state WHERE key = 'awards_cursor'")
    awardForResolutions(orchestrator)
    assert.deepEqual(awardsOf(orchestrator, id), awards)
  })

  it('is granted again for another doubt about the same task', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator)
    for (const report of ['one', 'two']) {
      doubtTask(orchestrator, id)
      resolveDoubt(orchestrator, id, {validated: false, report})
    }
    assert.deepEqual(
      awardsOf(orchestrator, id).map(({report}) => report),
      ['one', 'two'],
    )
  })

  it('goes to the doubting agent even if it has retired', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const doubter = spawnAgent(orchestrator, {name: 'doubter'})
    spawnAgent(orchestrator, {name: 'other'})
    const id = submit(orchestrator, {target_agent: 'doubter'})
    doubtTask(orchestrator, id)
    retireAgent(orchestrator, 'doubter')
    resolveDoubt(orchestrator, id, {validated: false, report: 'well seen'})
    assert.equal(awardsOf(orchestrator, id)[0]?.agent_id, doubter.id)
  })
})
