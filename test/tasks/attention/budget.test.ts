import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {
  approveTask,
  attentionBudget,
  attentionHistory,
  cancelTask,
  readEvents,
  requireAttention,
  requireTask,
  resetAttention,
  submitTask,
} from '../../../src/tasks/index.js'
import {
  openTestOrchestrator,
  refused,
  type TestOptions,
  type TestOrchestrator,
} from '../../orchestrator/support/open-test-orchestrator.js'

const hourMs = 3_600_000

/** Opens a workspace with attention enabled. */
const open = (test: TestContext, settings = '', options: TestOptions = {}) =>
  openTestOrchestrator(test, {toml: `[orchestrator]\nattention_enabled = true\n${settings}`, ...options})

/** A submission by an agent. Returns the task. */
function ask(orchestrator: TestOrchestrator, description: string, writes = 0) {
  const file_manifest = Array.from({length: writes}, (_, i) => ({path: `${i}.ts`, access: 'write' as const}))
  const {task_id} = submitTask(orchestrator, {description, file_manifest}, {submitter: 'agent'})
  return requireTask(orchestrator, task_id)
}

const eventsOf = (orchestrator: TestOrchestrator, type: string) =>
  readEvents(orchestrator, {}).flatMap(({kind}) => (kind.type === type ? [kind] : []))

describe('a task submitted by an agent', () => {
  it('starts without approval if it writes nothing', async (t) => {
    const orchestrator = await open(t)
    const {status, approval_tier} = ask(orchestrator, 'Explain the parser')
    assert.deepEqual([status, approval_tier], ['Queued', 'auto_approve'])
    const {auto_approved, total_requests, spent_ms} = attentionBudget(orchestrator)
    assert.deepEqual([auto_approved, total_requests, spent_ms], [1, 1, 0])
  })

  it('waits for a person if it is risky', async (t) => {
    const orchestrator = await open(t)
    const {id, status, status_reason} = ask(orchestrator, 'Delete the table', 1)
    assert.equal(status, 'BlockedOnApproval')
    assert.equal(status_reason, 'person_required: high_risk_or_low_confidence_requires_human')
    const [event] = attentionHistory(orchestrator)
    assert.equal(event?.decision?.scaled_cost_ms, 14_958)
    assert.deepEqual(event?.decision?.signals?.expected_user_cost, 0.65)
    refused('approval_blocked', () => approveTask(orchestrator, id))
    const approved = approveTask(orchestrator, id, 'ada')
    assert.deepEqual([approved.status, approved.status_reason], ['Queued', undefined])
  })

  it('starts if its description has an approval marker', async (t) => {
    const orchestrator = await open(t)
    assert.equal(ask(orchestrator, 'Delete the table [human-approved]', 1).status, 'Queued')
    assert.equal(ask(orchestrator, 'Deploy the site [human-approved]').status, 'BlockedOnApproval')
  })

  it('is not assessed if attention is off, or if a person submitted it', async (t) => {
    const off = await openTestOrchestrator(t)
    const {status, approval_tier, attention_weight} = ask(off, 'Deploy the site', 9)
    assert.deepEqual([status, approval_tier, attention_weight], ['Queued', undefined, undefined])
    const on = await open(t)
    const task = requireTask(on, submitTask(on, {description: 'Deploy the site'}).task_id)
    assert.deepEqual([task.status, task.approval_tier, typeof task.attention_weight], ['Queued', undefined, 'number'])
    assert.deepEqual(attentionHistory(on), [])
  })
})

describe('the attention budget', () => {
  it('is spent by approvals and rejections, with one alert', async (t) => {
    const orchestrator = await open(t, 'attention_budget_ms = 40000')
    const tasks = [1, 2, 3].map(() => ask(orchestrator, 'Deploy the site').id)
    approveTask(orchestrator, tasks[0] as number, 'ada')
    cancelTask(orchestrator, tasks[1] as number)
    const {spent_ms, rejected, signal} = attentionBudget(orchestrator)
    const costs = attentionHistory(orchestrator).map(({outcome, cost_ms}) => [outcome, cost_ms > 0])
    assert.deepEqual(costs.slice(0, 3), [
      ['rejected', true],
      ['approved', true],
      [undefined, false],
    ])
    assert.deepEqual([rejected, signal], [1, 'high'], `${spent_ms}`)
    approveTask(orchestrator, tasks[2] as number, 'ada')
    assert.equal(eventsOf(orchestrator, 'attention_budget_alert').length, 1)
  })

  it('refuses work of agents while it is exhausted', async (t) => {
    const orchestrator = await open(t, 'attention_budget_ms = 1')
    requireAttention(orchestrator)
    approveTask(orchestrator, ask(orchestrator, 'Deploy the site').id, 'ada')
    refused('attention_exhausted', () => requireAttention(orchestrator))
    assert.equal(resetAttention(orchestrator).spent_ms, 0)
    requireAttention(orchestrator)
    assert.deepEqual(
      eventsOf(orchestrator, 'attention_budget_reset').map((event) => 'cause' in event && event.cause),
      ['user'],
    )
  })

  it('restarts at local midnight', async (t) => {
    const orchestrator = await open(t)
    approveTask(orchestrator, ask(orchestrator, 'Deploy the site').id, 'ada')
    assert.ok(attentionBudget(orchestrator).spent_ms > 0)
    orchestrator.clock.ms += 24 * hourMs
    assert.equal(attentionBudget(orchestrator).spent_ms, 0)
    ask(orchestrator, 'Explain the parser')
    ask(orchestrator, 'Explain the lexer')
    assert.equal(attentionBudget(orchestrator).total_requests, 2)
    assert.deepEqual(
      eventsOf(orchestrator, 'attention_budget_reset').map((event) => 'cause' in event && event.cause),
      ['midnight'],
    )
  })

  it('deepens the focus with frequent interruptions', async (t) => {
    const orchestrator = await open(t)
    for (let i = 0; i < 4; i++) {
      approveTask(orchestrator, ask(orchestrator, 'Deploy the site').id, 'ada')
      orchestrator.clock.ms += 6 * 60_000
    }
    const {interrupt_freq_per_hour: frequency, focus_depth} = attentionBudget(orchestrator)
    assert.ok(Math.abs(frequency - 10 * (1 - 0.8 ** 3)) < 1e-9)
    assert.equal(focus_depth, 'focused')
  })

  it('keeps the latest 100 events', async (t) => {
    const orchestrator = await open(t)
    for (let i = 0; i < 103; i++) ask(orchestrator, 'Explain the parser')
    const tasks = attentionHistory(orchestrator).map(({task_id}) => task_id)
    assert.deepEqual([tasks.length, tasks[0], tasks.at(-1)], [100, 103, 4])
    orchestrator.clock.ms += 2 * hourMs
    assert.deepEqual(attentionHistory(orchestrator, 1), [])
  })
})
