import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type OperationContext, operationNamed, type Surface} from '../../src/operations/index.js'
import * as modules from '../../src/orchestrator/index.js'
import {openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'

const toml = '[orchestrator]\nattention_enabled = true\n'
const submission = {description: 'Deploy the site'}

/** A function that calls an operation through a binding. */
const caller =
  (orchestrator: modules.Orchestrator, surface: Surface) =>
  (name: string, input: object = {}) =>
    operationNamed(name).run(input as never, {modules, orchestrator, surface} as unknown as OperationContext)

describe('a submission', () => {
  for (const [surface, status] of [
    ['mcp', 'BlockedOnApproval'],
    ['daemon', 'BlockedOnApproval'],
    ['cli', 'Queued'],
  ] as const)
    it(`through ${surface} is ${status} if it has effects outside the workspace`, async (t) => {
      const call = caller(await openTestOrchestrator(t, {toml}), surface)
      assert.equal((call('submit_task', submission) as {status: string}).status, status)
      const {tasks} = call('submit_batch', {tasks: [submission]}) as {tasks: {status: string}[]}
      assert.equal(tasks[0]?.status, status)
    })
})

describe('an exhausted attention budget', () => {
  it('refuses submissions and plans of agents, but not those of a person', async (t) => {
    const orchestrator = await openTestOrchestrator(t, {toml: `${toml}attention_budget_ms = 0\n`})
    for (const surface of ['mcp', 'daemon'] as const) {
      const call = caller(orchestrator, surface)
      refused('attention_exhausted', () => call('submit_task', submission))
      refused('attention_exhausted', () => call('submit_batch', {tasks: [submission]}))
      refused('attention_exhausted', () => call('execute_plan', {session_id: 'p'}))
      for (const name of ['new_plan', 'replan'])
        await assert.rejects(async () => call(name, {goal: 'a', session_id: 'p', delta_hint: 'b'}), {
          code: 'attention_exhausted',
        })
    }
    assert.equal((caller(orchestrator, 'cli')('submit_task', submission) as {status: string}).status, 'Queued')
  })
})
