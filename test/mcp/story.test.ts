import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {Client} from '@modelcontextprotocol/client'
import {svcInTurn} from '../support/svc-in-turn.js'
import {newest} from './modern.js'
import {type After, connect, once, startHttp, workspace} from './support.js'

interface TaskAnswer {
  task: {id: number; status: string; result?: {text: string}; agent_name: string}
}

interface QuestionAnswer {
  question: {question_id: string; answer?: string}
}

type ToolClient =
  | Awaited<ReturnType<typeof connect>>
  | Awaited<ReturnType<Awaited<ReturnType<typeof startHttp>>['connect']>>

/** Two clients of a workspace: one without elicitation, and one that can ask its user. */
interface Clients {
  plain: ToolClient
  asking: ToolClient
}

const files = {'src/client.ts': 'export const attempts = 3\n'}

const transports: readonly [string, (test: After, revision?: typeof newest) => Promise<Clients>][] = [
  [
    'standard input and output',
    async (test, revision) => {
      const options = {cwd: await workspace(test, files), ...(revision === undefined ? {} : {revision})}
      return {plain: await connect(test, options), asking: await connect(test, {...options, capabilities, prepare})}
    },
  ],
  [
    'HTTP',
    async (test, revision) => {
      const server = await startHttp(test, {cwd: await workspace(test, files)})
      const options = revision === undefined ? {} : {revision}
      return {
        plain: await server.connect(options),
        asking: await server.connect({...options, capabilities, prepare}),
      }
    },
  ],
]

/** Response of the user to every question. */
let answer: object = {}
const capabilities = {elicitation: {}}
const prepare = (client: Client) =>
  client.setRequestHandler('elicitation/create', ({params}) => {
    questions.push(params as Question)
    return answer as {action: 'accept'}
  })

interface Question {
  message: string
  requestedSchema: {required: string[]}
}
const questions: Question[] = []

const clientKinds = transports.flatMap(([transport, open]) =>
  ([undefined, newest] as const).map((revision) => ({transport, open, revision})),
)

for (const {transport, open, revision} of clientKinds)
  describe(`a client over ${transport}${revision === undefined ? '' : `, protocol ${revision}`}`, () => {
    const clients = once((test) => open(test, revision))
    /** Display form of a task id. */
    const shownId = (id: number) => `T-${String(id).padStart(4, '0')}`

    it('submits a task, follows it, doubts it, resolves the doubt, claims it and completes it', async () => {
      const {client, call} = (await clients()).plain
      const {tools} = await client.listTools()
      assert.ok(tools.some(({name}) => name === 'svc_submit_task'))
      const {task_id} = await call<{task_id: number}>('svc_submit_task', {
        description: 'Add retry to the client',
        files: [{path: 'src/client.ts', access: 'write'}],
        agent_name: 'anna',
        processor: 'external',
        task_category: 'codegen',
        complexity: 4,
      })
      assert.equal((await call<{status: string}>('svc_task_status', {task_id})).status, 'Queued')
      const doubted = await call<TaskAnswer & {resolver_agent: string; resolution?: object}>('svc_doubt_task', {
        task_id,
        reason: 'Which client?',
      })
      assert.deepEqual([doubted.task.status, doubted.resolver_agent], ['Doubted', 'resolution'])
      assert.equal(doubted.resolution, undefined, 'no question was asked')
      const report = 'The one of the mesh.'
      const resolved = await call<TaskAnswer>('svc_resolve_doubt', {task_id, validated: false, report})
      assert.equal(resolved.task.status, 'Queued')
      const {generation} = await call<{generation: number}>('svc_claim_task', {owner: 'test'})
      assert.equal((await call<{status: string}>('svc_task_status', {task_id})).status, 'InProgress')
      for (const [name, member] of [
        ['svc_complete_task', {}],
        ['svc_fail_task', {}],
        ['svc_complete_task', {force: true}],
        ['svc_fail_task', {force: true}],
      ] as const) {
        const {isError, structuredContent} = await client.callTool({name, arguments: {task_id, ...member}})
        assert.equal(isError, true)
        assert.match(JSON.stringify(structuredContent), 'force' in member ? /unknown member/ : /claim_required/)
      }
      const done = await call<TaskAnswer & {outcome: string}>('svc_complete_task', {
        task_id,
        generation,
        completion_summary: 'The client tries three times.',
        checks_passed: ['npm test'],
        artifact_paths: ['src/client.ts'],
        no_change_needed: 'It tries three times already.',
      })
      assert.deepEqual(
        [done.outcome, done.task.status, done.task.result?.text],
        ['completed', 'Completed', 'The client tries three times.'],
      )
      const {tasks} = await call<{tasks: {id: number; status: string}[]}>('svc_task_list', {status: ['Completed']})
      assert.deepEqual(
        tasks.map(({id}) => id),
        [task_id],
      )
      const status = await call<{total_completed: number}>('svc_orchestrator_status')
      assert.equal(status.total_completed, 1)
    })

    it('asks the user to resolve a doubt if the client supports elicitation', async () => {
      questions.length = 0
      const content = {validated: true, report: 'The work is correct.'}
      answer = {action: 'accept', content}
      const {call} = (await clients()).asking
      const {task_id} = await call<{task_id: number}>('svc_submit_task', {description: 'Write it', files: []})
      const doubted = await call<TaskAnswer & {resolution: object}>('svc_doubt_task', {task_id, reason: 'Is it?'})
      assert.deepEqual(doubted.resolution, content)
      assert.equal(doubted.task.status, 'Queued')
      const [question] = questions
      const [first = '', ...rest] = (question?.message ?? '').split('\n\n')
      assert.ok(first.startsWith(`${shownId(task_id)} is in doubt: Is it?`), first)
      assert.match(rest.join('\n\n'), /^Write it/)
      assert.deepEqual(question?.requestedSchema.required, ['validated', 'report'])
    })

    it('asks the user a question, whose answer unblocks the session', async () => {
      questions.length = 0
      answer = {action: 'accept', content: {answer: 'YAML'}}
      const {asking, plain} = await clients()
      const ask = {
        session_id: `s-${Math.random()}`,
        prompt: 'Which format?',
        options: ['JSON', 'YAML'].map((label) => ({option_id: label.toLowerCase(), label})),
      }
      const asked = await asking.call<QuestionAnswer>('svc_questioning_ask', ask)
      assert.deepEqual([asked.question.answer, questions[0]?.message], ['yaml', 'Which format?'])
      const waiting = await plain.call<QuestionAnswer>('svc_questioning_ask', ask)
      assert.equal(waiting.question.answer, undefined)
      const {session_id} = ask
      const submission = {description: 'Write it', files: [], session_id}
      const refused = await plain.fails('question_pending', 'svc_submit_task', submission)
      assert.ok(refused.remediation?.includes(`svc orch questions answer ${waiting.question.question_id} TEXT`))
      const {questions: pending} = await plain.call<{questions: object[]}>('svc_questioning_pending', {session_id})
      assert.deepEqual(pending, [waiting.question])
      await plain.call('svc_questioning_submit_answer', {session_id, answer: 'json'})
      assert.ok((await plain.call<{task_id: number}>('svc_submit_task', submission)).task_id > 0)
    })

    for (const [what, response] of [
      ['declines', {action: 'decline'}],
      ['cancels', {action: 'cancel'}],
      ['gives an invalid answer', {action: 'accept', content: {validated: 'perhaps'}}],
    ] as const)
      it(`leaves a task in doubt if the user ${what}`, async () => {
        answer = response
        const {call} = (await clients()).asking
        const {task_id} = await call<{task_id: number}>('svc_submit_task', {description: 'x', files: []})
        const doubting = call<TaskAnswer & {resolution?: object}>('svc_doubt_task', {task_id})
        // There, the answer is part of a request, which is refused.
        if (revision === newest && response.action === 'accept') await assert.rejects(doubting, /Invalid answer/)
        else assert.equal((await doubting).resolution, undefined)
        assert.equal((await call<{status: string}>('svc_task_status', {task_id})).status, 'Doubted')
      })

    it('gets the errors of an invalid call, which changes nothing', async () => {
      const {fails, call} = (await clients()).plain
      const before = await call('svc_task_list')
      const refused = await fails('invalid_arguments', 'svc_submit_task', {description: '', files: [{path: 'a'}], x: 1})
      const {issues} = refused.meta as {issues: {path: string; message: string}[]}
      assert.ok(issues.some(({path}) => path === '/description'))
      assert.ok(issues.some(({path}) => path === '/files/0'))
      assert.ok(issues.some(({message}) => message === 'has an unknown member "x"'))
      const missing = await fails('task_not_found', 'svc_task_status', {task_id: 4242, trace_id: 't-1'})
      assert.match(missing.error ?? '', /T-4242/)
      assert.notEqual(missing.remediation, '')
      assert.deepEqual(missing.meta, {trace_id: 't-1'})
      await fails('unknown_tool', 'svc_sumbit_task')
      assert.deepEqual(await call('svc_task_list'), before)
    })

    it('calls tools that are not listed', async () => {
      const {client, call} = (await clients()).plain
      const {tools} = await client.listTools()
      assert.ok(!tools.some(({name}) => name === 'svc_spawn_agent'))
      assert.equal((await call<{agent: {name: string}}>('svc_spawn_agent', {name: 'bert'})).agent.name, 'bert')
    })
  })

describe('a question without an answer', () => {
  const server = once(async (test) =>
    startHttp(test, {cwd: await workspace(test), env: {SVC_MCP_ASK_TIMEOUT_MS: '300'}}),
  )

  it('times out after SVC_MCP_ASK_TIMEOUT_MS', async () => {
    const {call} = await (await server()).connect({
      capabilities: {elicitation: {}},
      prepare: (client) => client.setRequestHandler('elicitation/create', () => new Promise<never>(() => undefined)),
    })
    const {task_id} = await call<{task_id: number}>('svc_submit_task', {description: 'x', files: []})
    const doubted = await call<TaskAnswer & {resolution?: object}>('svc_doubt_task', {task_id})
    assert.deepEqual([doubted.task.status, doubted.resolution], ['Doubted', undefined])
  })

  it('is not sent to a client that only supports URL elicitation', async () => {
    const {call} = await (await server()).connect({capabilities: {elicitation: {url: {}}}})
    const {task_id} = await call<{task_id: number}>('svc_submit_task', {description: 'x', files: []})
    assert.equal((await call<TaskAnswer>('svc_doubt_task', {task_id})).task.status, 'Doubted')
  })
})

describe('tool tiers', () => {
  it('of the settings select the listed tools; an invalid value is reported and ignored', async (t) => {
    const cwd = await workspace(t, {'Svc.toml': '[mcp]\ntiers = ["dev"]\n'})
    const tiers = (tools: readonly {name: string}[]) => {
      const listed = tools.map(({name}) => name)
      return {core: listed.includes('svc_submit_task'), dev: listed.includes('svc_agent_list')}
    }
    const served = async (options: {args?: string[]; env?: Record<string, string>}) => {
      const {client, stderr} = await connect(t, {cwd, ...options})
      return {tiers: tiers((await client.listTools()).tools), stderr: stderr()}
    }
    const listed = async (args: string[], env: Record<string, string> = {}) => {
      const {stdout} = await svcInTurn(['mcp', 'tools', '--json', ...args], {cwd, env})
      return tiers(JSON.parse(stdout).tools)
    }
    assert.deepEqual(await listed([]), {core: false, dev: true})
    assert.deepEqual(await listed([], {SVC_MCP_TIERS: 'core,dev'}), {core: true, dev: true})
    const fromFlag = await served({args: ['--tiers', 'core'], env: {SVC_MCP_TIERS: 'all'}})
    assert.deepEqual(fromFlag.tiers, {core: true, dev: false})
    const fromTypo = await served({env: {SVC_MCP_TIERS: 'core,all,banana'}})
    assert.deepEqual(fromTypo.tiers, {core: false, dev: true})
    assert.match(fromTypo.stderr, /SVC_MCP_TIERS/)
  })
})
