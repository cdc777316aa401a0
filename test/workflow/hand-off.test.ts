import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {planStatus} from '../../src/plans/index.js'
import {resumeRun} from '../../src/workflow/engine/index.js'
import {listRuns} from '../../src/workflow/index.js'
import {operationWorkspace} from '../plans/operation-workspace.js'
import {writeFiles} from '../support/temporary.js'
import {plainPorts} from './support.js'

const toml = `[orchestrator]
planning_router_enabled = true
planning_workflow_handoff_enabled = true
planning_workflow_file = "flows.yaml"
`
const flows = `version: 1
workflows:
  nightly-build: {input: {goal: {}}, steps: [{id: g, value: "\${{ input.goal }}"}]}
  release: {steps: [{id: bad, exec: ["false"]}]}
`

describe('a goal that is handed to a workflow', () => {
  for (const [goal, workflow, status, plan] of [
    ['Run the workflow nightly build now', 'nightly-build', 'completed', 'completed'],
    ['Run the workflow release', 'release', 'failed', 'failed'],
  ] as const)
    it(`runs ${workflow}, and ends its plan as ${plan}`, async (test) => {
      const {call, context} = await operationWorkspace(test, {toml})
      const {orchestrator} = context
      await writeFiles(orchestrator.root, {'flows.yaml': flows})
      const {plan_session_id: id} = await call('submit_task', {description: goal, planning_mode: 'workflow_only'})
      const [run] = listRuns(orchestrator)
      assert.deepEqual([run?.workflow, run?.status], [workflow, 'queued'])
      const {signal} = new AbortController()
      const driven = await resumeRun(orchestrator, run?.run_id ?? '', {ports: plainPorts, signal, stays: false})
      const row = await driven.done
      assert.deepEqual([row.status, row.plan_session_id], [status, id])
      assert.equal(planStatus(orchestrator, id).status, plan)
      if (status === 'completed') assert.equal(JSON.parse(row.output_json ?? ''), goal)
    })

  it('cancels the run when the plan is replaced', async (test) => {
    const {call, context} = await operationWorkspace(test, {toml: `${toml}planning_enabled = true\n`})
    const {orchestrator} = context
    await writeFiles(orchestrator.root, {'flows.yaml': flows})
    const {plan_session_id: id} = await call('submit_task', {
      description: 'Run the workflow nightly build now',
      planning_mode: 'workflow_only',
    })
    await call('replan', {session_id: id, delta_hint: 'Build it by hand'})
    const [run] = listRuns(orchestrator)
    const driven = await resumeRun(orchestrator, run?.run_id ?? '', {
      ports: plainPorts,
      signal: new AbortController().signal,
      stays: false,
    })
    assert.equal((await driven.done).status, 'cancelled')
  })

  it('is refused if the file does not name one workflow', async (test) => {
    const {call, context} = await operationWorkspace(test, {toml})
    await writeFiles(context.orchestrator.root, {'flows.yaml': flows})
    await assert.rejects(call('submit_task', {description: 'Run some workflow', planning_mode: 'workflow_only'}), {
      code: 'workflow_unknown',
    })
  })
})
