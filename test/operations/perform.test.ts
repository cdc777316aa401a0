import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {isErrorOf, SvcError} from '../../src/errors/index.js'
import {
  type Call,
  commandCall,
  createCall,
  type OperationContext,
  operationNamed,
  operations,
  ToolAnswer,
} from '../../src/operations/index.js'
import type {Task} from '../../src/tasks/index.js'
import {life} from './support/life.js'
import {openContext} from './support/open-context.js'
import {sample} from './support/sample.js'
import {violations} from './support/violations.js'

const byTool = (name: string): Call => {
  const operation = operationNamed(name)
  return createCall(operation, operation.bindings.tool?.name ?? name, operation.bindings.tool)
}
const calls = new Map(operations.map((operation) => [operation.name, createCall(operation, operation.name)]))
const perform = async (name: string, input: object, context: OperationContext) =>
  (await calls.get(name)?.perform(input, context)) as Record<string, unknown>

const context = {} as OperationContext

describe('a call of an operation', () => {
  it('is rejected with all violations, by the names of the binding', async () => {
    const complete = byTool('complete_task')
    const params = {
      checks_passed: 'all',
      observation_summary: 7,
      declared_non_placeholder: 1,
      attestation: {},
      generation: 0,
    }
    await assert.rejects(
      async () => complete.perform(params, context),
      (error) => {
        assert.ok(isErrorOf(error, 'params_invalid'))
        assert.equal(error.params.operation, 'svc_complete_task')
        assert.deepEqual([...error.params.violations].sort(), [
          '/checks_passed must be array',
          '/declared_non_placeholder must be boolean',
          '/generation must be >= 1',
          '/observation_summary must be string',
          'the document has an unknown member "attestation"',
          "the document must have required property 'task_id'",
        ])
        return true
      },
    )
  })

  for (const [what, params] of [
    ['undefined', undefined],
    ['null', null],
    ['a list', [1]],
    ['a string', '{"task_id":1}'],
    ['a fraction instead of a whole number', {task_id: 1.5}],
    ['a text that is no number', {task_id: '1x'}],
    ['an unknown member', {task_id: 1, id: 1}],
    ['a __proto__ member', JSON.parse('{"task_id": 1, "__proto__": {"reason": "x"}}')],
  ] as const)
    it(`is rejected with ${what}`, async () => {
      const cancel = createCall(operationNamed('cancel_task'), 'orch.cancel_task')
      // The first call compiles the schema, the second uses the compiled one.
      for (let i = 0; i < 2; i++)
        await assert.rejects(
          async () => cancel.perform(params, context),
          (error) => isErrorOf(error, 'params_invalid'),
        )
    })

  it('accepts the names of its binding', async (t) => {
    const context = await openContext(t)
    const submit = byTool('submit_task')
    const files = [{path: 'a.ts', access: 'write'}]
    const hints = {complexity: 7, lost_node: {after_ms: 60_000, reconcile: 'keep_replacement'}}
    await submit.perform({description: 'x', files, agent_name: 'anna', processor: 'external', ...hints}, context)
    const {task} = (await perform('get_task', {task_id: 1}, context)) as unknown as {task: Task}
    const {file_manifest, agent_name, complexity, lost_node} = task
    assert.deepEqual([file_manifest, agent_name, {complexity, lost_node}], [files, 'anna', hints])
    const invalid = createCall(operationNamed('submit_task'), 'orch.submit_task')
    for (const lost_node of [{after_ms: 0}, {reconcile: 'keep_both'}, {after: 1}])
      await assert.rejects(
        async () => invalid.perform({description: 'x', enqueue_hints: {lost_node}}, context),
        (error) => isErrorOf(error, 'params_invalid'),
      )
  })

  it('is synchronous once its schema is compiled, and with run()', async (t) => {
    const context = await openContext(t)
    const agents = createCall(operationNamed('list_agents'), 'orch.list_agents')
    assert.ok(agents.perform({}, context) instanceof Promise)
    await agents.perform({}, context)
    assert.deepEqual(agents.perform({}, context), {agents: []})
    const spawn = commandCall(operationNamed('spawn_agent'))
    const {agent} = spawn.run({name: 'anna', label: ['fast'], parent: undefined}, context) as {agent: {name: string}}
    assert.equal(agent.name, 'anna')
  })

  it('compiles its schema once for concurrent calls', async (t) => {
    const context = await openContext(t)
    let reads = 0
    /** Number of times that the schema is read by concurrent calls. */
    const readsBy = async (count: number) => {
      reads = 0
      const text = {
        get type() {
          reads++
          return 'string'
        },
      }
      const input = {type: 'object', properties: {text}, additionalProperties: false}
      const call = createCall({...operationNamed('list_agents'), input}, 'orch.list_agents')
      await Promise.all(Array.from({length: count}, () => call.perform({text: 'x'}, context)))
      return reads
    }
    const once = await readsBy(1)
    assert.ok(once > 0)
    assert.equal(await readsBy(5), once)
  })

  it('distinguishes the id of an agent from a name that is a number', async (t) => {
    const context = await openContext(t)
    for (const name of ['worker-x', '1']) await perform('spawn_agent', {name}, context)
    const agentOf = ({agent}: Record<string, unknown>) => {
      const {id, state} = agent as {id: number; state: string}
      return [id, state]
    }
    assert.deepEqual(agentOf(await perform('pause_agent', {agent_id: 1}, context)), [1, 'paused'])
    assert.deepEqual(agentOf(await perform('pause_agent', {agent_id: '1'}, context)), [2, 'paused'])
    assert.deepEqual(agentOf(await perform('resume_agent', {agent_id: 1}, context)), [1, 'active'])
    await perform('resume_agent', {agent_id: '1'}, context)
    const parentOf = async (name: string, parent_agent_id: string | number) => {
      const {agent_id} = await perform('spawn_agent', {name, parent_agent_id}, context)
      const {store} = context.orchestrator
      return store.get<{parent: number}>('SELECT parent_agent_id AS parent FROM orch_agents WHERE id = ?', [
        agent_id as number,
      ])?.parent
    }
    assert.deepEqual([await parentOf('a', 1), await parentOf('b', '1')], [1, 2])
    for (const target_agent of ['worker-x', '1'])
      await perform('submit_task', {description: 'x', processor: 'external', target_agent}, context)
    const {task} = (await perform('claim_task', {owner: 'me', agent_id: 1}, context)) as {task: Task}
    assert.equal(task.agent_name, 'worker-x')
  })

  it('has no generated command if the operation has none, or one with its own flags', () => {
    assert.equal(commandCall(operationNamed('fail_task')).name, 'svc orch fail')
    for (const name of ['submit_batch', 'submit_task'])
      assert.throws(() => commandCall(operationNamed(name)), TypeError)
  })
})

describe('a session with all operations on tasks, doubts and agents', () => {
  it('returns results that match the output schemas', async (t) => {
    const context = await openContext(t)
    const outputs: Record<string, unknown>[] = []
    for (const [name, input] of life) {
      const output = await perform(name, input, context)
      assert.deepEqual(violations(operationNamed(name).output, output), [], `${name}: ${JSON.stringify(output)}`)
      outputs.push(output)
    }
    const {tasks} = (await perform('list_tasks', {}, context)) as unknown as {tasks: Task[]}
    assert.deepEqual(
      tasks.map(({id, status, status_reason: reason, result}) => [id, status, reason, result?.text]),
      [
        [4, 'Completed', undefined, undefined],
        [3, 'Failed', 'dependency_failed:T-0002', undefined],
        [2, 'Cancelled', 'Late.', undefined],
        [1, 'Completed', undefined, 'The announcement is written.'],
      ],
    )
    assert.deepEqual(tasks[3]?.result?.checks_passed, ['build'])
    assert.match(tasks[0]?.description ?? '', /The newer one counts\.$/)
    const [completed, ofSession, listed] = outputs.slice(-3)
    assert.deepEqual(completed?.tasks, [tasks[0], tasks[3]])
    assert.deepEqual(ofSession?.tasks, [tasks[3]])
    const events = listed?.events as readonly {kind: {task_id: number}}[]
    assert.deepEqual(
      events.map(({kind}) => kind.task_id),
      [1, 4],
    )
  })

  it('covers all of them', () => {
    const covered = new Set(life.map(([name]) => name))
    const owned = operations.filter(({name}) =>
      /(_task|_tasks|_batch|_claim|_doubt|_agent|_agents|agent_ids|rebalance)$/.test(name),
    )
    assert.ok(owned.length >= 23)
    assert.deepEqual(
      owned.filter(({name}) => !covered.has(name)).map(({name}) => name),
      [],
    )
  })

  it('marks a second submission with the same key as a duplicate', async (t) => {
    const context = await openContext(t)
    const task = {description: 'x', idempotency_key: 'k'}
    const first = await perform('submit_task', task, context)
    const again = await perform('submit_task', task, context)
    assert.deepEqual([first.duplicate, again.duplicate, again.task_id], [undefined, true, first.task_id])
    assert.deepEqual(violations(operationNamed('submit_task').output, again), [])
  })

  it('distinguishes an empty summary from a missing one', async (t) => {
    const context = await openContext(t)
    const endings = [
      {attestation: {completion_summary: ''}},
      {attestation: {observation_summary: 'quiet'}},
      {attestation: {}},
      {attestation: null},
      {},
    ]
    const results = []
    for (const [i, ending] of endings.entries()) {
      await perform('submit_task', {description: 'x', processor: 'external'}, context)
      await perform('claim_task', {owner: 'me'}, context)
      const {task} = (await perform('complete_task', {task_id: i + 1, generation: 1, ...ending}, context)) as {
        task: Task
      }
      results.push(task.result)
    }
    assert.deepEqual(results, [{text: ''}, {text: '', observation_summary: 'quiet'}, undefined, undefined, undefined])
  })

  it('asks the person behind the caller about a doubt, and resolves it with the answer', async (t) => {
    for (const [answer, status, resolution] of [
      [{validated: false, report: 'Take the newer one.'}, 'Queued', true],
      [{validated: 'yes', report: 'x'}, 'Doubted', false],
      [undefined, 'Doubted', false],
    ] as const) {
      const asked: string[] = []
      const context = await openContext(t, {
        ask: async ({message}) => {
          asked.push(message)
          return answer
        },
      })
      await perform('submit_task', {description: 'Merge them', processor: 'external'}, context)
      const doubted = await perform('doubt_task', {task_id: 1, reason: 'They differ'}, context)
      assert.deepEqual(asked, ['T-0001 is in doubt: They differ.\n\nMerge them'])
      assert.deepEqual([doubted.status, doubted.resolution !== undefined], [status, resolution])
      assert.equal((doubted.task as Task).status, status)
      assert.deepEqual(violations(operationNamed('doubt_task').output, doubted), [])
    }
  })
})

describe('a doubt that is resolved elsewhere while a person is asked', () => {
  it('keeps that resolution and notifies the person', async (t) => {
    const notices: string[] = []
    const context: OperationContext = await openContext(t, {
      notice: (text) => notices.push(text),
      ask: async () => {
        await perform('overrule_doubt', {task_id: 1}, context)
        return {validated: false, report: 'Take the newer one.'}
      },
    })
    await perform('submit_task', {description: 'Merge them', processor: 'external'}, context)
    const doubted = await perform('doubt_task', {task_id: 1}, context)
    assert.deepEqual([doubted.status, 'resolution' in doubted], ['Completed', false])
    assert.equal((doubted.task as Task).status, 'Completed')
    assert.deepEqual(notices, ['warning: T-0001 is already Completed; your answer about its doubt was ignored.'])
    assert.deepEqual(violations(operationNamed('doubt_task').output, doubted), [])
  })
})

describe('every operation in a new workspace', () => {
  for (const {name, input, output} of operations)
    it(`${name} returns a valid result or a known error`, async (t) => {
      const context = await openContext(t)
      for (const how of ['least', 'full'] as const)
        try {
          const result = await perform(name, sample(input, how) as object, context)
          const answer = result instanceof ToolAnswer ? result.data : result
          assert.deepEqual(violations(output, answer), [], `${how}: ${JSON.stringify(answer)}`)
        } catch (error) {
          assert.ok(error instanceof SvcError, String((error as Error).stack))
          assert.notEqual(error.code, 'internal', error.stack)
        }
    })
})
