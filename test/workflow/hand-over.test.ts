import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {describe, it} from 'node:test'
import {operationNamed} from '../../src/operations/index.js'
import {createRun, handOverRun, startWorkflowRunner} from '../../src/workflow/engine/index.js'
import {runReport} from '../../src/workflow/index.js'
import {openContext} from '../operations/support/open-context.js'
import {until} from '../support/until.js'
import {openFlows, plainPorts, workflow} from './support.js'

describe('a run that is handed over to the daemon', () => {
  it('continues after a failure, without repeating completed steps', async (t) => {
    const {run, file, context} = await openFlows(t)
    const {run_id, status} = await run(
      `steps: [{id: a, exec: [sh, -c, 'echo x >> ${file('a')}']}, {id: b, exec: [test, -e, '${file('there')}']}]`,
    )
    assert.equal(status, 'failed')
    await writeFile(file('there'), '')
    const runner = startWorkflowRunner(context, {ports: plainPorts})
    t.after(() => runner.stop())
    assert.equal(runReport(context, run_id).status, 'failed')
    await handOverRun(context, run_id)
    runner.wake()
    await until(() => runReport(context, run_id).status === 'completed', 'the run completes')
    assert.deepEqual(
      runReport(context, run_id).activities.map(({attempts}) => attempts),
      [1, 2],
    )
    await assert.rejects(handOverRun(context, run_id), {code: 'workflow_finished'})
  })

  it('is cancelled by the daemon, which undoes completed steps', async (t) => {
    const context = await openContext(t, {surface: 'cli'})
    const {orchestrator} = context
    const {run_id} = createRun(orchestrator, workflow('steps: [{id: s, signal: go}]'), {input: {}})
    const cancel = operationNamed('cancel_workflow_run')
    await cancel.run({run_id} as never, context)
    const runner = startWorkflowRunner(orchestrator, {ports: plainPorts})
    t.after(() => runner.stop())
    await until(() => runReport(orchestrator, run_id).status === 'cancelled', 'the run is cancelled')
    await assert.rejects(async () => cancel.run({run_id} as never, context), {code: 'workflow_finished'})
  })
})
