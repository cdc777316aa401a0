import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {isErrorOf} from '../../../src/errors/index.js'
import {replayRun} from '../../../src/workflow/engine/index.js'
import {openFlows} from '../support.js'

describe('the replay of a workflow run', () => {
  it('evaluates branches, loops and skipped steps from their results, and writes nothing', async (test) => {
    const {run, context, entries} = await openFlows(test)
    const {run_id: id} = await run(`
steps:
  - {id: skipped, value: 1, if: "false"}
  - {id: list, for_each: [1, 2, 3], as: n, steps: [{id: twice, value: "\${{ n * 2 }}"}]}
  - {if: "steps.list[1] == 4", then: [{id: chosen, value: yes}], else: [{id: other, value: no}]}
output: {list: "\${{ steps.list }}", skipped: "\${{ steps.skipped }}"}`)
    const rowsOf = () =>
      ['workflow_activity_log', 'workflow_run_log', 'activity_result_cache'].map((table) =>
        context.store.all(`SELECT * FROM ${table}`, []),
      )
    const [before, written] = [rowsOf(), entries.length]
    const {output, reproduced, stopped_at} = await replayRun(context, id)
    assert.deepEqual([output, reproduced, stopped_at], [{list: [2, 4, 6], skipped: null}, true, undefined])
    assert.deepEqual([rowsOf(), entries.length], [before, written])
  })

  it('stops at the first activity without a result', async (test) => {
    const {run, context} = await openFlows(test)
    const {run_id: id} = await run('steps: [{id: a, value: 1}, {id: go, signal: go}, {id: b, value: 2}]')
    const {stopped_at, activities, reproduced} = await replayRun(context, id)
    assert.deepEqual([stopped_at, activities, reproduced], ['go', 1, true])
  })

  it('needs a run', async (test) => {
    const {context} = await openFlows(test)
    await assert.rejects(replayRun(context, 'none'), (error) => isErrorOf(error, 'workflow_run_not_found'))
  })
})
