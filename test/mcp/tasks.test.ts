import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {
  Client,
  type ElicitRequestFormParams,
  InMemoryTransport,
  type ProtocolErrorCode,
  type StandardSchemaV1,
} from '@modelcontextprotocol/client'
import {openWorkspace} from '../../src/cli/open-workspace.js'
import {createStateless} from '../../src/mcp/http/stateless.js'
import {
  BackgroundCalls,
  type CallHooks,
  callFragment,
  callTool,
  operationTools,
  ResourceFeed,
  type ServerParts,
  type Tool,
  ToolRegistry,
} from '../../src/mcp/index.js'
import {createToolServer} from '../../src/mcp/server.js'
import {createServerState} from '../../src/mcp/server-state.js'
import type {OperationBase} from '../../src/operations/index.js'
import {until} from '../support/orch-workspace.js'
import {unclear} from '../support/unclear.js'
import {envelope, modernRequest, prefix} from './modern.js'
import {workspace} from './support.js'

interface TaskView {
  taskId: string
  status: string
  statusMessage: string
  ttlMs?: number | null
  ttl?: number | null
  result?: {isError: boolean; structuredContent: {data?: {status?: string; result?: object}; code?: string}}
  inputRequests?: Record<string, {method: string; params: {message: string}}>
}

/** A tool whose calls end when the test releases them. */
function slowTool() {
  const started: {signal: AbortSignal; report: CallHooks['report']; release: (answer: string) => void}[] = []
  const tool: Tool = {
    name: 'slow',
    tier: 'core',
    lane: 'platform',
    task: 'background',
    input: {type: 'object'},
    listed: {
      name: 'slow',
      description: 'A slow tool.',
      inputSchema: {type: 'object'},
      outputSchema: {type: 'object'},
      annotations: {title: 'Slow', readOnlyHint: true, openWorldHint: false},
      execution: {taskSupport: 'optional'},
    },
    call: (_args, _host, {signal, report}) =>
      new Promise((resolve, reject) => {
        started.push({signal, report, release: (answer) => resolve({data: answer})})
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  }
  return {tool, started}
}

/** The parts of a server in this process, and direct access to its workspace. */
async function server(t: TestContext) {
  const root = await workspace(t)
  const sources = {env: {HOME: root}}
  const {modules, orchestrator} = await openWorkspace(root, sources, [callFragment])
  const base: OperationBase = {modules, orchestrator, surface: 'mcp', version: '1', sources, speech: undefined}
  const {tool, started} = slowTool()
  const registry = new ToolRegistry([...operationTools(), tool])
  const host = {version: '1', open: async () => base}
  const parts: ServerParts = {
    registry,
    tiers: new Set(['core'] as const),
    host,
    feed: new ResourceFeed(host.open),
    background: new BackgroundCalls(registry, host),
    askTimeoutMs: 5000,
  }
  const hooks = {
    signal: new AbortController().signal,
    report: () => undefined,
    notice: () => undefined,
    ask: undefined,
  }
  /** Calls a tool that must succeed. */
  const use = async <T = object>(name: string, args: Readonly<Record<string, unknown>>): Promise<T> => {
    const {envelope: called} = await callTool(registry, name, args, host, hooks)
    assert.ok(called.success, called.error)
    return called.data as T
  }
  const claim = () => use<{generation: number; task: {id: number}}>('svc_claim_task', {owner: 'test'})
  t.after(() => {
    parts.background.close()
    orchestrator.close()
  })
  return {
    base,
    parts,
    started,
    claim,
    use,
    /** Claims the next task and completes it. */
    async complete() {
      const {generation, task} = await claim()
      const result = {completion_summary: 'Written.'}
      const {outcome} = await use<{outcome: string}>('svc_complete_task', {task_id: task.id, generation, ...result})
      assert.equal(outcome, 'completed')
    },
  }
}

const anything: StandardSchemaV1<unknown, never> = {
  '~standard': {version: 1, vendor: 'test', validate: (value) => ({value: value as never})},
}

const submission = {description: 'Write it', files: [], processor: 'external'}

describe('tasks of protocol 2026-07-28', {concurrency: 2}, () => {
  const capabilities = (more: object = {}) => ({
    [`${prefix}/clientCapabilities`]: {extensions: {[`${prefix}/tasks`]: {}}, ...more},
  })

  async function open(t: TestContext) {
    const own = await server(t)
    const stateless = createStateless(own.parts, 4)
    t.after(() => stateless.close(0))
    const ask = async (method: string, params: Readonly<Record<string, unknown>>, more: object = {}) => {
      const {request, body} = modernRequest('http://localhost/mcp', method, {
        params,
        meta: envelope(capabilities(more)),
      })
      const response = await stateless.answer(request, body, new Promise(() => undefined))
      return (await response.json()) as {result?: TaskView; error?: {code: ProtocolErrorCode; message: string}}
    }
    const result = async (method: string, params: Readonly<Record<string, unknown>>, more: object = {}) => {
      const {result: found, error} = await ask(method, params, more)
      assert.ok(found, JSON.stringify(error))
      return found
    }
    const call = (name: string, args: object) => result('tools/call', {name, arguments: args})
    return {...own, ask, result, call, get: (taskId: string, more?: object) => result('tasks/get', {taskId}, more)}
  }

  it('are the orchestrator tasks that a client submits', async (t) => {
    const {base, call, get, complete} = await open(t)
    const handle = await call('svc_submit_task', submission)
    const {id} = base.modules.tasks.taskWithUid(base.orchestrator, handle.taskId) ?? {}
    assert.deepEqual([handle.status, handle.ttlMs, id], ['working', null, 1])
    assert.equal((await get(handle.taskId)).status, 'working')
    await complete()
    const {status, result} = await get(handle.taskId)
    assert.deepEqual([status, result?.isError], ['completed', false])
    assert.match(JSON.stringify(result?.structuredContent.data), /"text":"Written."/)
  })

  it('request the decision of a person, which a later request delivers', async (t) => {
    const {base, ask, call, get, result} = await open(t)
    const form = {elicitation: {}}
    const {taskId} = await call('svc_submit_task', submission)
    base.modules.tasks.doubtTask(base.orchestrator, 1, 'Which file?')
    assert.equal((await get(taskId)).status, 'working', 'the client cannot ask')
    const asking = await get(taskId, form)
    assert.equal(asking.status, 'input_required')
    const [[key, request] = ['']] = Object.entries(asking.inputRequests ?? {})
    assert.match(request?.params.message ?? '', /T-0001 is in doubt: Which file\?/)
    const answer = {action: 'accept', content: {validated: false, report: 'The first one.'}}
    for (const content of [undefined, {}, ...unclear.map((validated) => ({validated, report: 'Yes.'}))]) {
      const inputResponses = {other: answer, [key]: {action: 'accept', content}}
      assert.equal((await ask('tasks/update', {taskId, inputResponses}, form)).error?.code, -32602)
    }
    assert.equal((await get(taskId, form)).status, 'input_required', 'an invalid answer is refused')
    await result('tasks/update', {taskId, inputResponses: {[key]: answer}}, form)
    assert.equal((await get(taskId, form)).status, 'working')
    base.modules.tasks.doubtTask(base.orchestrator, 1, 'And now?')
    const [next] = Object.keys((await get(taskId, form)).inputRequests ?? {})
    assert.notEqual(next, key)
  })

  it('wait for approval, and are cancelled without it', async (t) => {
    const {call, get, result} = await open(t)
    const form = {elicitation: {}}
    const [first, second] = [
      await call('svc_submit_task', {...submission, requires_approval: true}),
      await call('svc_submit_task', {...submission, requires_approval: true}),
    ]
    for (const [{taskId}, approve, expected] of [
      [first, true, 'working'],
      [second, false, 'cancelled'],
    ] as const) {
      const [key = ''] = Object.keys((await get(taskId, form)).inputRequests ?? {})
      const inputResponses = {[key]: {action: 'accept', content: {approve}}}
      await result('tasks/update', {taskId, inputResponses}, form)
      assert.equal((await get(taskId, form)).status, expected)
    }
  })

  it('wait for the answer to a question of an agent', async (t) => {
    const {base, call, get, result, claim} = await open(t)
    const form = {elicitation: {}}
    const {taskId} = await call('svc_submit_task', submission)
    await claim()
    base.modules.tasks.askQuestion(base.orchestrator, {prompt: 'Which format?', task_id: 1, blocks: true})
    const [[key, request] = ['']] = Object.entries((await get(taskId, form)).inputRequests ?? {})
    assert.equal(request?.params.message, 'Which format?')
    await result('tasks/update', {taskId, inputResponses: {[key]: {action: 'accept', content: {answer: 'YAML'}}}}, form)
    assert.match(base.modules.tasks.requireTask(base.orchestrator, 1).description, /YAML/)
  })

  it('run slow tools in the background', async (t) => {
    const {call, get, started} = await open(t)
    const {taskId, status, ttlMs} = await call('slow', {})
    assert.deepEqual([status, ttlMs], ['working', 86_400_000])
    assert.equal((await get(taskId)).status, 'working')
    started[0]?.release('done')
    await until(async () => (await get(taskId)).status === 'completed', 'the call has ended')
    assert.equal((await get(taskId)).result?.structuredContent.data, 'done')
  })

  it('run again if their server has ended, but not forever', async (t) => {
    const {base, call, get, started} = await open(t)
    const {taskId} = await call('slow', {})
    const die = () => base.orchestrator.store.run(`UPDATE mcp_calls SET owner = '{"pid":4194304,"start":"1"}'`)
    for (const count of [2, 3]) {
      die()
      assert.equal((await get(taskId)).status, 'working')
      assert.equal(started.length, count)
    }
    started[0]?.release('too late')
    die()
    const {status, result} = await get(taskId)
    assert.deepEqual([status, result?.structuredContent.code], ['completed', 'mcp_call_lost'])
  })

  it('can be cancelled', async (t) => {
    const {base, call, get, result, started} = await open(t)
    const slow = await call('slow', {})
    await result('tasks/cancel', {taskId: slow.taskId})
    assert.equal(started[0]?.signal.aborted, true)
    const submitted = await call('svc_submit_task', submission)
    await result('tasks/cancel', {taskId: submitted.taskId})
    await result('tasks/cancel', {taskId: submitted.taskId})
    assert.equal(base.modules.tasks.requireTask(base.orchestrator, 1).status, 'Cancelled')
    for (const {taskId} of [slow, submitted]) assert.equal((await get(taskId)).status, 'cancelled')
  })

  it('expire, and the oldest ended calls make room', async (t) => {
    const {base, call, ask, started} = await open(t)
    const {taskId} = await call('slow', {})
    started[0]?.release('done')
    base.orchestrator.store.run('UPDATE mcp_calls SET created_at_ms = created_at_ms - ttl_ms')
    assert.equal((await ask('tasks/get', {taskId})).error?.code, -32602)
    await call('slow', {})
    const {n} = base.orchestrator.store.get<{n: number}>('SELECT count(*) AS n FROM mcp_calls') ?? {n: 0}
    assert.equal(n, 1)
  })

  it('are refused to clients without the extension, and unknown ones do not exist', async (t) => {
    const {base, parts, ask, call} = await open(t)
    const stateless = createStateless(parts, 4)
    const plain = async (method: string, params: Readonly<Record<string, unknown>>) => {
      const {request, body} = modernRequest('http://localhost/mcp', method, {params})
      const response = await stateless.answer(request, body, new Promise(() => undefined))
      return (await response.json()) as {result?: {resultType: string}; error?: {code: number; data: object}}
    }
    const {taskId} = await call('svc_submit_task', submission)
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const {error} = await plain(method, {taskId, inputResponses: {}})
      assert.equal(error?.code, -32021)
      assert.deepEqual(error?.data, {requiredCapabilities: {extensions: {[`${prefix}/tasks`]: {}}}})
      assert.equal((await ask(method, {taskId: 'x', inputResponses: {}})).error?.code, -32602)
    }
    const listening = await plain('subscriptions/listen', {notifications: {taskIds: [taskId]}})
    assert.equal(listening.error?.code, -32021)
    for (const method of ['tasks/list', 'tasks/result']) assert.equal((await ask(method, {taskId})).error?.code, -32601)
    const {result} = await plain('tools/call', {name: 'svc_submit_task', arguments: submission})
    assert.equal(result?.resultType, 'complete')
    assert.equal(base.modules.tasks.listTasks(base.orchestrator).length, 2)
    const refused = await ask('tools/call', {name: 'svc_submit_task', arguments: {description: ''}})
    assert.match(JSON.stringify(refused.result), /invalid_arguments/)
  })
})

describe('tasks of protocol 2025-11-25', {concurrency: 2}, () => {
  async function open(t: TestContext, answer?: (params: ElicitRequestFormParams) => object) {
    const own = await server(t)
    const client = new Client(
      {name: 'test', version: '1'},
      {capabilities: answer === undefined ? {} : {elicitation: {}}},
    )
    if (answer !== undefined)
      client.setRequestHandler('elicitation/create', ({params}) => answer(params as ElicitRequestFormParams) as never)
    const [here, there] = InMemoryTransport.createLinkedPair()
    const connected = createToolServer(own.parts, createServerState(), 'legacy')
    await Promise.all([connected.connect(there), client.connect(here)])
    t.after(() => client.close())
    const ask = <T>(method: string, params: object): Promise<T> =>
      client.request({method, params: {...params}}, anything as StandardSchemaV1<unknown, T>)
    const start = async (name: string, args: object, task: object = {}) =>
      (await ask<{task: TaskView}>('tools/call', {name, arguments: args, task})).task
    return {...own, client, ask, start, get: (taskId: string) => ask<TaskView>('tasks/get', {taskId})}
  }

  it('are announced, and requested by the client', async (t) => {
    const {client, start, ask} = await open(t)
    assert.deepEqual(client.getServerCapabilities()?.tasks, {list: {}, cancel: {}, requests: {tools: {call: {}}}})
    const {tools} = await client.listTools()
    const support = tools.filter(({execution}) => execution?.taskSupport === 'optional').map(({name}) => name)
    assert.deepEqual(support, ['svc_submit_task', 'svc_generate_code', 'svc_speech_transcribe', 'slow'])
    assert.equal((await start('svc_submit_task', submission)).status, 'working')
    const isCode = (code: number) => (error: unknown) => (error as {code: number}).code === code
    await assert.rejects(start('svc_task_list', {}), isCode(-32601))
    await assert.rejects(start('svc_submit_task', {description: ''}), isCode(-32602))
    await assert.rejects(ask('tasks/get', {taskId: 'x'}), isCode(-32602))
    await assert.rejects(ask('tasks/get', {}), isCode(-32602))
  })

  it('return their result when they have ended', async (t) => {
    const {ask, start, get, started, complete} = await open(t)
    const {taskId} = await start('svc_submit_task', submission)
    const slow = await start('slow', {}, {ttl: 120_000})
    assert.equal(slow.ttl, 120_000)
    const results = [taskId, slow.taskId].map((id) =>
      ask<{structuredContent: {data: unknown}; _meta: object}>('tasks/result', {taskId: id}),
    )
    await complete()
    started[0]?.release('done')
    const [submitted, called] = await Promise.all(results)
    assert.match(JSON.stringify(submitted?.structuredContent.data), /"text":"Written."/)
    assert.equal(called?.structuredContent.data, 'done')
    assert.deepEqual(submitted?._meta, {[`${prefix}/related-task`]: {taskId}})
    assert.equal((await get(taskId)).status, 'completed')
  })

  it('ask the person behind the client while it waits for the result', async (t) => {
    const asked: string[] = []
    const {base, ask, start, complete} = await open(t, ({message}) => {
      asked.push(message)
      return {action: 'accept', content: {validated: true, report: 'It is fine.', approve: true}}
    })
    const {taskId} = await start('svc_submit_task', {...submission, requires_approval: true})
    const result = ask<{structuredContent: {data: {status: string}}}>('tasks/result', {taskId})
    await until(() => base.modules.tasks.requireTask(base.orchestrator, 1).status === 'Queued', 'it is approved')
    base.modules.tasks.doubtTask(base.orchestrator, 1, 'Is it?')
    await until(() => asked.length === 2, 'the doubt is asked')
    await until(() => base.modules.tasks.requireTask(base.orchestrator, 1).status !== 'Doubted', 'it is resolved')
    await complete()
    assert.equal((await result).structuredContent.data.status, 'Completed')
  })

  it('notify their client of progress and of each status', async (t) => {
    const {base, client, ask, start, started, complete, parts} = await open(t)
    const received: unknown[] = []
    client.setNotificationHandler('notifications/tasks/status', {params: anything}, (params: TaskView) => {
      received.push([params.taskId, params.status, params.statusMessage])
    })
    client.setNotificationHandler('notifications/progress', ({params}) => void received.push(params))
    const next = async (count: number) => {
      await until(() => received.length >= count, 'the client is notified')
      return received.splice(0)
    }
    const {task: slow} = await ask<{task: TaskView}>('tools/call', {
      name: 'slow',
      arguments: {},
      task: {},
      _meta: {progressToken: 'mine'},
    })
    started[0]?.report({done: 1, total: 2, message: 'half'})
    started[0]?.report({done: 1, total: 2})
    assert.deepEqual(await next(1), [{progressToken: 'mine', progress: 1, total: 2, message: 'half'}])
    started[0]?.release('done')
    assert.deepEqual(await next(1), [[slow.taskId, 'completed', 'slow is completed.']])

    const cancelled = await start('slow', {})
    started[1]?.report({done: 1})
    await ask('tasks/cancel', {taskId: cancelled.taskId})
    assert.deepEqual(await next(1), [[cancelled.taskId, 'cancelled', 'slow is cancelled.']])

    const {taskId} = await start('svc_submit_task', submission)
    base.modules.tasks.doubtTask(base.orchestrator, 1, 'Which file?')
    assert.deepEqual(await next(1), [[taskId, 'input_required', 'T-0001 is Doubted: Which file?.']])
    base.modules.tasks.resolveDoubt(base.orchestrator, 1, {validated: false, report: 'The first.'})
    assert.equal(((await next(1)) as string[][])[0]?.[1], 'working')
    await complete()
    const last = (await next(1)) as string[][]
    if (last.at(-1)?.[1] !== 'completed') last.push(...((await next(1)) as string[][]))
    assert.deepEqual(last.at(-1)?.slice(0, 2), [taskId, 'completed'])
    await until(() => !parts.feed.runs, 'nothing polls the store for tasks that have ended')
    await start('svc_submit_task', submission)
    await until(() => parts.feed.runs, 'the task is followed')
    await client.close()
    await until(() => !parts.feed.runs, 'nothing polls the store for a client that has left')
  })

  it('fail, and are cancelled once', async (t) => {
    const {ask, start, get, claim, use} = await open(t)
    const failed = await start('svc_submit_task', submission)
    await use('svc_fail_task', {task_id: 1, generation: (await claim()).generation, reason: 'no time'})
    assert.equal((await get(failed.taskId)).status, 'failed')
    const {isError} = await ask<{isError: boolean}>('tasks/result', {taskId: failed.taskId})
    assert.equal(isError, true)
    const other = await start('svc_submit_task', submission)
    assert.equal((await ask<TaskView>('tasks/cancel', {taskId: other.taskId})).status, 'cancelled')
    for (const {taskId} of [failed, other]) await assert.rejects(ask('tasks/cancel', {taskId}), /cannot be cancelled/)
  })

  it('are listed page by page', async (t) => {
    const {base, ask, start} = await open(t)
    await start('slow', {})
    const tasks = Array.from({length: 60}, (_, i) => ({description: `Task ${i}`}))
    base.modules.tasks.submitBatch(base.orchestrator, tasks as never, {submitter: 'agent'})
    const first = await ask<{tasks: TaskView[]; nextCursor: string}>('tasks/list', {})
    const second = await ask<{tasks: TaskView[]; nextCursor?: string}>('tasks/list', {cursor: first.nextCursor})
    assert.deepEqual([first.tasks.length, second.tasks.length, second.nextCursor], [50, 11, undefined])
    assert.equal(second.tasks.at(-1)?.statusMessage, 'slow is working.')
    await assert.rejects(ask('tasks/list', {cursor: 'nonsense'}), /Invalid cursor/)
  })
})
