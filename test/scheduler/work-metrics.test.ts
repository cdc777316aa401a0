import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {recordRoutingDecision} from '../../src/tasks/index.js'
import {listMetrics, recordModelCall} from '../../src/telemetry/index.js'
import {done, type Script, ScriptedProcessor, startDaemon} from '../orchestrator/support/daemon.js'
import {openTestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {statusOf, submit} from '../orchestrator/support/tasks.js'
import {until} from '../support/until.js'

const script: Script = (_, report) => {
  report.phase('act')
  report.message('x'.repeat(20_000))
  return done()
}

const call = {
  model: 'm',
  category: 'general',
  success: true,
  latencyMs: 12,
  inputTokens: 3,
  outputTokens: 4,
  costUsd: 0.5,
  sessionId: 's',
}

const decision = {
  surface: 'chat_message',
  choice: {model: 'm', registryHit: true, fallback: false},
  category: 'general',
  complexity: 5,
} as const

describe('metrics about work', () => {
  it('record turns, phases and the time of runs, calls and choices of models', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {clock: 'real'})
    await startDaemon(t, orchestrator, new ScriptedProcessor(script))
    const id = submit(orchestrator)
    await until(() => statusOf(orchestrator, id) === 'Completed', 'the task is completed')
    recordModelCall(orchestrator, call)
    recordRoutingDecision(orchestrator, decision)
    const metrics = listMetrics(orchestrator.store, {}).reverse()
    const repository = orchestrator.repositoryId
    assert.deepEqual(
      metrics.map(({metric_type: type, session_id: session}) => [type, session]),
      [
        ['task_phase_change', `workflow:${repository}`],
        ['task_turn', `workflow:${repository}`],
        ['agent_exec_time', `agent:${repository}`],
        ['model_call_event', `route:${repository}`],
        ['model_route_event', `route:${repository}`],
      ],
    )
    const details = await Promise.all(
      metrics.map(async ({metadata_json: json}) => {
        const metadata = JSON.parse(json ?? '')
        assert.deepEqual(await contractViolations('telemetry/work-metric.v1', metadata), [])
        return metadata.details
      }),
    )
    const [phase, turn, run, called, routed] = details
    assert.deepEqual([phase.phase, turn.message.length, turn.agent_name], ['act', 16_384, 'core'])
    assert.deepEqual(run, {task_id: id, agent_id: 1, processor: 'ai', outcome: 'success', timeout_budget_ms: 1_800_000})
    assert.deepEqual([called.model, called.session_id, called.cost_usd], ['m', 's', 0.5])
    assert.deepEqual([routed.surface, routed.is_fallback], ['chat_message', false])
    assert.ok((metrics[2]?.metric_value ?? 0) > 0)
    assert.equal(metrics[3]?.metric_value, 12)
  })

  it('record the time of a failed run', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {clock: 'real'})
    const failing = new ScriptedProcessor(() => {
      throw new Error('broken')
    })
    await startDaemon(t, orchestrator, failing)
    const id = submit(orchestrator)
    await until(() => statusOf(orchestrator, id) === 'Failed', 'the task has failed')
    const [metric] = listMetrics(orchestrator.store, {type: 'agent_exec_time'})
    assert.equal(JSON.parse(metric?.metadata_json ?? '').details.outcome, 'failure')
  })

  it('are off if SVC_TELEMETRY is off, but calls are still accounted for', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {env: {SVC_TELEMETRY: 'off'}})
    recordModelCall(orchestrator, call)
    recordRoutingDecision(orchestrator, decision)
    assert.deepEqual(listMetrics(orchestrator.store, {}), [])
    assert.equal(orchestrator.store.all('SELECT 1 FROM llm_interactions').length, 1)
  })
})
