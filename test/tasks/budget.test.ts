import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {estimateTokens, newAlerts, overspent} from '../../src/tasks/agents/budget.js'
import {agentBudgets, chargeAgent, readEvents, renewClaim, requireTask, takeClaim} from '../../src/tasks/index.js'
import {freeDeadClaims} from '../../src/tasks/lifecycle/claim.js'
import {openTestOrchestrator, refused, type TestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask, submit} from '../orchestrator/support/tasks.js'

const usage = (costUsd: number, tokens = 0) => ({
  provider: 'cloud',
  model: 'large',
  costUsd,
  inputTokens: tokens,
  outputTokens: 0,
})

const charge = (orchestrator: TestOrchestrator, ...use: Parameters<typeof usage>) =>
  chargeAgent(orchestrator, 1, usage(...use))

const opened = (t: TestContext, settings = '') => openTestOrchestrator(t, {toml: `[orchestrator]\n${settings}`})
const toCore = {target_agent: 'core', processor: 'external'} as const
const dayMs = 86_400_000

describe('the budgets of an agent', () => {
  const none = {tokens: 0, costMicros: 0, unfinishedCostMicros: 0}
  const limits = {agentTokenBudget: 1000, agentDailyBudgetMicros: 100}

  it('are exceeded at their limits', () => {
    assert.equal(overspent(none, limits, 5000), undefined, 'no tokens used yet')
    assert.equal(overspent({...none, tokens: 1}, limits, 999), undefined)
    assert.equal(overspent({...none, tokens: 1}, limits, 1000), 'tokens')
    assert.equal(overspent({...none, costMicros: 99}, limits), undefined)
    assert.equal(overspent({...none, costMicros: 100}, limits), 'cost')
    assert.equal(overspent({...none, unfinishedCostMicros: 2_000_000}, limits), undefined)
    assert.equal(overspent({...none, unfinishedCostMicros: 2_000_001}, limits), 'doom_loop')
    const unlimited = {agentTokenBudget: 0, agentDailyBudgetMicros: 0}
    assert.equal(overspent({...none, tokens: 1e9, costMicros: 1e9}, unlimited, 1e9), undefined)
  })

  it('estimates a quarter of a token per character and 200 tokens per file', () => {
    assert.equal(estimateTokens('x'.repeat(401), 3), 701)
  })

  it('alert once at 80 % of the tokens and 90 % of the cost', () => {
    const at = (tokens: number, costMicros: number) => ({...none, tokens, costMicros})
    assert.deepEqual(newAlerts(at(799, 89), at(800, 90), limits), [
      {kind: 'tokens', used: 800, limit: 1000},
      {kind: 'cost', used: 90, limit: 100},
    ])
    assert.deepEqual(newAlerts(at(800, 90), at(900, 95), limits), [])
  })
})

describe('an agent that spends without completing tasks', () => {
  it('gets no new tasks, until it completes one', async (t) => {
    const orchestrator = await opened(t)
    const id = submit(orchestrator, {processor: 'external'})
    charge(orchestrator, 2)
    submit(orchestrator, toCore)
    charge(orchestrator, 0.01)
    const {message} = refused('doom_loop', () => submit(orchestrator, toCore))
    assert.equal(message, 'The agent core has spent 2.01 USD without completing a task; the limit is 2.00 USD.')
    const {generation} = takeClaim(orchestrator, {owner: 'me'})
    acceptTask(orchestrator, id, undefined, {generation})
    submit(orchestrator, toCore)
  })

  it('is passed over by routing', async (t) => {
    const orchestrator = await opened(t, 'min_agents = 2\n')
    submit(orchestrator)
    charge(orchestrator, 3)
    const agents = [1, 2, 3].map(() => requireTask(orchestrator, submit(orchestrator)).agent_name)
    assert.deepEqual(agents, ['core-2', 'core-2', 'core-2'])
  })
})

describe('a daily budget', () => {
  it('refuses tasks whose estimate exceeds the tokens that are left, until the next day', async (t) => {
    const orchestrator = await opened(t)
    submit(orchestrator, toCore)
    charge(orchestrator, 0, 80_000)
    assert.deepEqual(readEvents(orchestrator, {types: ['budget_alert']})[0]?.kind, {
      type: 'budget_alert',
      agent_id: 1,
      kind: 'tokens',
      used: 80_000,
      limit: 100_000,
    })
    charge(orchestrator, 0, 19_999)
    submit(orchestrator, {...toCore, description: 'x'})
    refused('budget_exceeded', () => submit(orchestrator, {...toCore, description: 'x'.repeat(8)}))
    assert.equal(agentBudgets(orchestrator)[0]?.tokens_today, 99_999)
    orchestrator.clock.ms += dayMs
    submit(orchestrator, toCore)
    assert.deepEqual(
      agentBudgets(orchestrator, 'core').map(({tokens_today, tokens_used, blocked_by}) => [
        tokens_today,
        tokens_used,
        blocked_by,
      ]),
      [[0, 99_999, null]],
    )
  })

  it('limits the cost if agent_daily_budget_micros is set', async (t) => {
    const orchestrator = await opened(t, 'agent_daily_budget_micros = 500000\n')
    submit(orchestrator, toCore)
    charge(orchestrator, 0.5)
    const {message} = refused('budget_exceeded', () => submit(orchestrator, toCore))
    assert.equal(message, 'The agent core has spent 0.50 USD of its 0.50 USD for today.')
  })
})

describe('budget.max_latency_ms', () => {
  it('fails a claimed task after the time multiplied by execution_time_budget_multiplier', async (t) => {
    const orchestrator = await opened(t, 'execution_time_budget_multiplier = 2\n')
    const id = submit(orchestrator, {
      processor: 'external',
      retries: 3,
      enqueue_hints: {budget: {max_latency_ms: 1000}},
    })
    const {generation} = takeClaim(orchestrator, {owner: 'me', ttlMs: 60_000})
    orchestrator.clock.ms += 2000
    assert.equal(freeDeadClaims(orchestrator), 0)
    renewClaim(orchestrator, id, {generation, ttlMs: 60_000})
    orchestrator.clock.ms += 1
    assert.equal(freeDeadClaims(orchestrator), 1)
    const {status, status_reason: reason} = requireTask(orchestrator, id)
    assert.deepEqual([status, reason], ['Failed', 'budget_exceeded'])
  })
})
