import assert from 'node:assert/strict'
import {existsSync} from 'node:fs'
import {rename} from 'node:fs/promises'
import {join} from 'node:path'
import {PassThrough} from 'node:stream'
import {describe, it, type TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {isDeepStrictEqual} from 'node:util'
import {parseJSONRPCMessage} from '@modelcontextprotocol/client'
import {StdioTransport} from '../../src/mcp/stdio-transport.js'
import {until} from '../support/orch-workspace.js'
import {type SvcOptions, startSvc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {connect, environment, initialize, workspace} from './support.js'

const request = (id: number, method: string, params: object = {}) => ({jsonrpc: '2.0', id, method, params})
const call = (id: number, name: string, args: object = {}) => request(id, 'tools/call', {name, arguments: args})
const initialized = {jsonrpc: '2.0', method: 'notifications/initialized'}

const asLines = (...messages: object[]) => messages.map((message) => `${JSON.stringify(message)}\n`).join('')

interface Message {
  id?: number
  result?: {
    structuredContent?: {data?: unknown}
    protocolVersion?: string
    serverInfo?: {name: string; version: string}
  }
  error?: {code: number; message?: string}
}

/** Parses standard output: every line must be a protocol message. */
function messagesOf(stdout: string): Message[] {
  assert.ok(stdout === '' || stdout.endsWith('\n'))
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => parseJSONRPCMessage(JSON.parse(line)) as Message)
}

/** Writes the input and closes standard input. */
async function converse(t: TestContext, lines: string, {env = {}, args = []}: SvcOptions & {args?: string[]} = {}) {
  const cwd = await workspace(t, {'Svc.toml': 'nonsense = 1\n[orchestrator]\nunknown = true\n'})
  const {stdout, stderr, exitCode} = await svcInTurn(['mcp', 'serve', ...args], {
    cwd,
    env: environment(cwd, env),
    input: lines,
  })
  return {messages: messagesOf(stdout), stderr, exitCode, cwd}
}

describe('mcp serve over stdio', {concurrency: 2}, () => {
  it('answers all requests sent before standard input closed and exits with status 0', async (t) => {
    const {messages, exitCode} = await converse(
      t,
      asLines(
        initialize(),
        initialized,
        call(2, 'svc_submit_task', {description: 'x', files: []}),
        request(3, 'tools/list'),
        request(4, 'resources/read', {uri: 'svc://tasks'}),
        request(5, 'ping'),
      ),
    )
    assert.equal(exitCode, 0)
    assert.deepEqual(messages.map(({id}) => id).sort(), [1, 2, 3, 4, 5])
    assert.deepEqual(
      messages.filter(({error}) => error !== undefined),
      [],
    )
  })

  it('writes only messages to standard output, and warnings to standard error', async (t) => {
    const {messages, stderr, exitCode} = await converse(
      t,
      asLines(
        initialize(),
        initialized,
        call(2, 'svc_submit_task', {description: 'x', files: []}),
        call(3, 'svc_speech_status'),
        call(4, 'svc_nothing'),
        request(5, 'no/such/method'),
      ),
      {
        env: {SVC_LOG: 'debug', SVC_MCP_TIERS: 'banana', SVC_ORCHESTRATOR_MAX_AGENTS: 'many', DEBUG: '*'},
        args: ['--json', '--debug'],
      },
    )
    assert.equal(exitCode, 0)
    assert.deepEqual(messages.map(({id}) => id).sort(), [1, 2, 3, 4, 5])
    assert.equal(messages.find(({id}) => id === 5)?.error?.code, -32601)
    for (const said of [/nonsense/, /banana/, /SVC_ORCHESTRATOR_MAX_AGENTS/, /"target":"mcp"/])
      assert.match(stderr, said)
  })

  it('continues after an invalid line', async (t) => {
    const {messages, exitCode, stderr} = await converse(
      t,
      `${asLines(initialize(), initialized)}{"jsonrpc":\nnull\n[]\n\n{"id":7}\n${asLines(request(2, 'ping'))}`,
    )
    assert.equal(exitCode, 0)
    assert.deepEqual(messages.map(({id, error}) => `${id} ${error?.code ?? 'answered'}`).sort(), [
      '1 answered',
      '2 answered',
      '7 -32600',
      'undefined -32600',
      'undefined -32600',
      'undefined -32700',
    ])
    assert.match(stderr, /cannot handle message/)
  })

  it('answers a line that is too long, or has an integer beyond 2^53, with an error and continues', async (t) => {
    const text = 'x'.repeat(10 << 20)
    const {messages, exitCode} = await converse(
      t,
      [
        asLines(initialize(), initialized, call(2, 'svc_submit_task', {description: 'x', files: []})),
        // Some clients send the id after the arguments, some before them.
        `{"method":"tools/call","params":{"text":"${text}","id":7},"jsonrpc":"2.0","id":3}\n`,
        `{"jsonrpc":"2.0","id":"four","method":"tools/call","params":{"text":"${text}"}}\n`,
        `{"result":{"text":"${text}"},"jsonrpc":"2.0","id":0}\n`,
        `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"x","arguments":{"id":9007199254740993}}}\n`,
        asLines(request(5, 'ping')),
      ].join(''),
    )
    assert.equal(exitCode, 0)
    const outcomes = messages.map(({id, error}) => [id, error?.code])
    for (const outcome of [
      [2, undefined],
      [3, -32600],
      ['four', -32600],
      [undefined, -32600],
      [5, undefined],
      [6, -32600],
    ])
      assert.ok(
        outcomes.some((each) => isDeepStrictEqual(each, outcome)),
        JSON.stringify(outcomes),
      )
    assert.match(messages.find(({id}) => id === 6)?.error?.message ?? '', /9007199254740993 is not exact.*column 86/)
  })

  it('passes an answer with an integer beyond 2^53 on as an error, so that nothing waits for it', async () => {
    const input = new PassThrough()
    const transport = new StdioTransport(input, new PassThrough())
    const answered = new Promise((resolve) => {
      transport.onmessage = resolve
    })
    await transport.start()
    input.write('{"jsonrpc":"2.0","id":1,"result":{"content":{"id":9007199254740993}}}\n')
    const {id, error} = (await answered) as Message
    await transport.close()
    assert.deepEqual([id, error?.code], [1, -32600])
  })

  for (const [asked, answered] of [
    ['2024-11-05', '2024-11-05'],
    ['2025-03-26', '2025-03-26'],
    ['2025-06-18', '2025-06-18'],
    ['2025-11-25', '2025-11-25'],
    ['2099-01-01', '2025-11-25'],
  ] as const)
    it(`negotiates protocol ${answered} when the client requests ${asked}`, async (t) => {
      const {messages} = await converse(t, asLines(initialize(asked)))
      assert.equal(messages[0]?.result?.protocolVersion, answered)
    })

  it('reports its capabilities without opening the store', async (t) => {
    const cwd = await workspace(t)
    const {client, call: callTool} = await connect(t, {cwd})
    const {stdout} = await svcInTurn(['--version'])
    assert.equal(client.getServerVersion()?.name, 'svc-mcp')
    assert.ok(stdout.startsWith(`svc/${client.getServerVersion()?.version} `))
    assert.deepEqual(client.getServerCapabilities(), {
      tools: {listChanged: true},
      resources: {subscribe: true, listChanged: true},
      prompts: {},
      logging: {},
      completions: {},
      tasks: {list: {}, cancel: {}, requests: {tools: {call: {}}}},
      extensions: {'io.modelcontextprotocol/skills': {}},
    })
    assert.match(client.getInstructions() ?? '', /svc_doubt_task/)
    await client.listTools()
    await client.listPrompts()
    assert.equal(existsSync(join(cwd, '.svc')), false)
    await callTool('svc_orchestrator_status')
    assert.equal(existsSync(join(cwd, '.svc/store.db')), true)
  })

  it('reports why the store cannot be opened and retries on the next call', async (t) => {
    const cwd = await workspace(t, {'Svc.toml': '', '.svc': 'a file where the folder should be'})
    const {fails, call: callTool} = await connect(t, {cwd, env: {SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL: 'false'}})
    const {error} = await fails('store_unopenable', 'svc_orchestrator_status')
    assert.match(error ?? '', /\.svc/)
    await rename(join(cwd, '.svc'), join(cwd, 'gone'))
    await callTool('svc_orchestrator_status')
  })

  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    it(`exits with status 0 on ${signal}, even during a call`, async (t) => {
      const cwd = await workspace(t)
      const child = startSvc(['mcp', 'serve'], {cwd, env: environment(cwd)})
      t.after(() => child.kill('SIGKILL'))
      let stdout = ''
      child.stdout?.on('data', (chunk) => {
        stdout += chunk
      })
      child.stdin?.write(asLines(initialize()))
      await until(() => stdout !== '', 'initialize is answered')
      child.stdin?.write(asLines(initialized, call(2, 'svc_orchestrator_status')))
      await sleep(50)
      child.kill(signal)
      assert.equal((await child).exitCode, 0)
      messagesOf(stdout)
    })

  it('exits with status 0 when the client closes its end', async (t) => {
    const cwd = await workspace(t)
    const child = startSvc(['mcp', 'serve'], {cwd, env: environment(cwd)})
    t.after(() => child.kill('SIGKILL'))
    child.stdout?.destroy()
    child.stdin?.write(asLines(initialize(), initialized, call(2, 'svc_orchestrator_status')))
    assert.equal((await child).exitCode, 0)
  })
})
