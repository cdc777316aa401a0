import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {createCall, operationNamed} from '../../src/operations/index.js'
import {openContext} from './support/open-context.js'
import {violations} from './support/violations.js'

/** Calls operations in a new workspace; each answer must match its schema. */
async function workspace(test: TestContext) {
  const context = await openContext(test)
  return async (name: string, input: object) => {
    const row = operationNamed(name)
    const answer = (await createCall(row, name).perform(input, context)) as Readonly<Record<string, unknown>>
    assert.deepEqual(violations(row.output, answer), [])
    return answer
  }
}

describe('the operations of the context store', () => {
  it('set, show and list entries', async (test) => {
    const call = await workspace(test)
    await call('spawn_agent', {name: 'anna'})
    const {set_at, expires_at} = await call('context_set', {key: 'plan', value: 'Ship', agent_id: 'anna', ttl_secs: 60})
    assert.equal(expires_at, (set_at as number) + 60)
    const entry = {agent_id: 1, value: 'Ship', expires_at, set_at}
    assert.deepEqual(await call('context_get', {key: 'plan'}), {entry})
    assert.deepEqual(await call('context_get', {key: 'other'}), {entry: null})
    assert.deepEqual(await call('context_list', {prefix: 'p'}), {entries: [{key: 'plan', ...entry, length: 4}]})
    assert.deepEqual((await call('status', {})).context_entries, {plan: entry})
  })

  it('reject unknown agents', async (test) => {
    const call = await workspace(test)
    await assert.rejects(call('context_set', {key: 'k', value: 'v', agent_id: 'nobody'}), {code: 'agent_not_found'})
  })

  it('accept the members of a submission by their tool', async (test) => {
    const context = await openContext(test)
    const row = operationNamed('submit_task')
    const {tool} = row.bindings
    const submit = createCall(row, tool?.name ?? '', tool)
    await submit.perform(
      {
        description: 'x',
        accept: ['Fast'],
        harness_spec_json: '{"accept": ["Small"]}',
        retrieval: {repo_hits: 1},
        socrates_context: {evidence_count: 1},
      },
      context,
    )
    const {harness} = context.modules.tasks.requireTask(context.orchestrator, 1)
    assert.deepEqual(harness?.accept, ['Fast', 'Small'])
  })
})
