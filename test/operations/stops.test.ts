import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {createCall, operationNamed} from '../../src/operations/index.js'
import {openContext} from './support/open-context.js'
import {violations} from './support/violations.js'

/** Calls operations in a new workspace; each answer must match its schema. */
async function workspace(test: TestContext) {
  const context = await openContext(test, {}, {SVC_MCP_LLM_COST_EVENTS: '1'})
  return async (name: string, input: object = {}) => {
    const row = operationNamed(name)
    const answer = (await createCall(row, name).perform(input, context)) as Readonly<Record<string, unknown>>
    assert.deepEqual(violations(row.output, answer), [])
    return answer
  }
}

const cost = {provider: 'cloud', model: 'large', cost_usd: 1.5, input_tokens: 10, output_tokens: 5}

describe('the operations of stops and budgets', () => {
  it('stop and start the orchestrator', async (test) => {
    const call = await workspace(test)
    assert.deepEqual(await call('emergency_stop', {reason: 'fire'}), {ok: true, requeued: []})
    await assert.rejects(call('submit_task', {description: 'x'}), {code: 'stopped'})
    assert.deepEqual(await call('start_orchestrator'), {ok: true, was_stopped: true})
    await call('submit_task', {description: 'x'})
  })

  it('charge the agent of a cost, of its task or of its session', async (test) => {
    const call = await workspace(test)
    await call('spawn_agent', {name: 'anna'})
    await call('submit_task', {description: 'x', target_agent: 'anna'})
    const {id} = await call('session_create', {agent_id: 'anna'})
    await call('map_agent_session', {agent_id: 'anna', session_id: 'mine'})
    for (const subject of [{agent_id: 'anna'}, {task_id: 1}, {session_id: id}, {session_id: 'mine'}])
      assert.deepEqual(await call('record_cost', {...cost, ...subject}), {ok: true, agent_id: 1})
    for (const subject of [{}, {session_id: 'unknown'}])
      assert.deepEqual(await call('record_cost', {...cost, ...subject}), {ok: true, agent_id: null})
    await assert.rejects(call('record_cost', {...cost, agent_id: 'nobody'}), {code: 'agent_not_found'})
    const {budgets} = (await call('budget_status', {agent_id: 'anna'})) as {budgets: object[]}
    assert.deepEqual(budgets, [
      {
        agent_id: 1,
        name: 'anna',
        tokens_today: 60,
        token_limit: 100_000,
        cost_usd_today: 6,
        cost_limit_usd: 0,
        unfinished_cost_usd: 6,
        tokens_used: 60,
        cost_usd: 6,
        blocked_by: 'doom_loop',
      },
    ])
    const {events} = (await call('list_events', {types: ['cost_incurred']})) as {events: object[]}
    assert.equal(events.length, 6)
  })
})

describe('the operations of sessions', () => {
  it('create, show, compact, reset and remove sessions', async (test) => {
    const call = await workspace(test)
    await call('spawn_agent', {name: 'anna'})
    const created = await call('session_create', {agent_id: 1})
    const {id: session_id} = created
    assert.deepEqual(await call('session_list'), {sessions: [created]})
    assert.deepEqual(await call('session_info', {session_id}), {...created, meta: {}, turns: []})
    const compacted = {session_id, turns_removed: 0, summary: 'No turns.'}
    assert.deepEqual(await call('session_compact', {session_id}), compacted)
    assert.deepEqual(await call('session_reset', {session_id}), {session_id, turns_cleared: 1})
    assert.deepEqual(await call('session_cleanup'), {ok: true, removed: []})
    await assert.rejects(call('session_info', {session_id: 'sess_1_1'}), {code: 'session_not_found'})
    const {events} = (await call('list_events', {types: ['session_created', 'session_reset']})) as {events: object[]}
    assert.equal(events.length, 2)
  })
})
