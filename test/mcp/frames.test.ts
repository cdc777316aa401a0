import assert from 'node:assert/strict'
import {once as onceEmitted} from 'node:events'
import {connect as connectSocket} from 'node:net'
import {PassThrough} from 'node:stream'
import {describe, it} from 'node:test'
import WebSocket from 'ws'
import {
  BackgroundCalls,
  operationTools,
  ResourceFeed,
  serveHttp,
  serveStdio,
  ToolRegistry,
  tiersOf,
} from '../../src/mcp/index.js'
import * as modules from '../../src/orchestrator/index.js'
import {openTestServer} from '../daemon/support/open-test-server.js'
import {type After, initialize, once} from './support.js'

interface Answer {
  id?: unknown
  result?: unknown
  error?: {code: number; message: string}
}

/**
 * Sends the text of a frame and returns its answer; undefined for a notification, after which a ping is answered.
 * @param isAnswered the answer may come later than that to the ping
 */
type Ask = (text: string, isAnswered?: boolean) => Promise<Answer | Answer[] | undefined>

const marker = 'marker'
const initialized = {jsonrpc: '2.0', method: 'notifications/initialized'}
const old = '2025-03-26'
/** Ends each conversation about a frame, so that a missing answer is noticed. */
const last = (method: string) => JSON.stringify({jsonrpc: '2.0', id: marker, method})

/** Calls `ask` for a connection on which every message is one text. */
function conversation(method: string, write: (text: string) => void) {
  const received: (Answer | Answer[])[] = []
  let wake = () => {}
  const next = async (): Promise<Answer | Answer[]> => {
    for (;;) {
      const found = received.shift()
      if (found !== undefined) return found
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return {
    receive(text: string) {
      received.push(JSON.parse(text))
      wake()
    },
    next,
    async ask(text: string, isAnswered = false) {
      write(text)
      write(last(method))
      const answers = [await next()]
      // The library answers a ping later than the transport refuses a message.
      if (isAnswered || !isMarker(answers[0])) answers.push(await next())
      return answers.find((answer) => !isMarker(answer))
    },
  }
}

const isMarker = (answer: Answer | Answer[] | undefined) => (answer as Answer | undefined)?.id === marker

describe('a frame of JSON-RPC', {concurrency: false}, () => {
  const opened = once(async (test: After) => {
    const {orchestrator, addr} = await openTestServer(test as never)
    const base = {modules, orchestrator, surface: 'mcp' as const, version: '1', sources: {env: {}}, speech: undefined}
    const host = {version: '1', open: async () => base}
    const registry = new ToolRegistry(operationTools())
    const feed = new ResourceFeed(host.open)
    const background = new BackgroundCalls(registry, host)
    const parts = {registry, tiers: tiersOf(['core']), host, feed, background, askTimeoutMs: 60_000}
    test.after(() => {
      background.close()
      feed.close()
    })
    return {addr, parts}
  })

  const stdio = once(async (test: After): Promise<Ask> => {
    const {parts} = await opened()
    const [input, output] = [new PassThrough(), new PassThrough()]
    const stop = new AbortController()
    const served = serveStdio(parts, {input: input as never, output, signal: stop.signal})
    test.after(async () => {
      stop.abort()
      await served
    })
    const talk = conversation('ping', (text) => input.write(`${text}\n`))
    let rest = ''
    output.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) talk.receive(line)
    })
    input.write(`${JSON.stringify(initialize(old))}\n${JSON.stringify(initialized)}\n`)
    await talk.next()
    return talk.ask
  })

  const httpServer = once(async (test: After) => {
    const {parts} = await opened()
    const server = await serveHttp(parts, {
      address: {host: '127.0.0.1', port: 0},
      access: {token: undefined, readToken: undefined, allowedTools: [], readRoleAllowedTools: []},
      healthAuth: false,
      allowRemote: false,
      sessions: {max: 4, idleMs: 600_000},
      requestsPerMinute: 0,
    })
    test.after(() => server.close(0))
    return server.baseUrl
  })

  /** Sends what curl would send: `Accept` permits any type. */
  const post = async (body: string, headers: Record<string, string> = {}) =>
    fetch(`${await httpServer()}/mcp`, {
      method: 'POST',
      headers: {'content-type': 'application/json', accept: '*/*', ...headers},
      body,
    })

  const http = once(async (): Promise<Ask> => {
    const {headers, status} = await post(JSON.stringify(initialize(old)))
    assert.equal(status, 200)
    const session = {'mcp-session-id': headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': old}
    await post(JSON.stringify(initialized), session)
    return async (text) => {
      const response = await post(text, session)
      const body = await response.text()
      if (body === '') return undefined
      const events = [...body.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? '') as Answer)
      assert.equal(response.status, events.length > 0 ? 200 : 400, body)
      if (events.length === 0) return JSON.parse(body)
      return text.includes('[{') ? events : events[0]
    }
  })

  const webSocket = once(async (test: After): Promise<Ask> => {
    const url = await httpServer()
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/ws`, {headers: {origin: url}})
    test.after(() => socket.terminate())
    const talk = conversation('ping', (text) => socket.send(text))
    socket.on('message', (data) => talk.receive(String(data)))
    await onceEmitted(socket, 'open')
    return talk.ask
  })

  const daemon = once(async (test: After): Promise<Ask> => {
    const {addr} = await opened()
    const [host = '', port] = addr.split(':')
    const socket = connectSocket({host, port: Number(port), noDelay: true})
    test.after(() => socket.destroy())
    const talk = conversation('orch.ping', (text) => socket.write(`${text.replaceAll('"ping"', '"orch.ping"')}\n`))
    let rest = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) talk.receive(line)
    })
    return talk.ask
  })

  type Outcome = [id: unknown, outcome: 'answered' | number]
  const id = /"id" must be a string or an integer/
  const params = /^Invalid parameters for \S*ping: "params" must be an object\.$/
  const frames: readonly [frame: string, expected: Outcome | Outcome[] | undefined, message?: RegExp][] = [
    ['{"jsonrpc":"2.0","id":7,"method":"ping"}', [7, 'answered']],
    ['{"jsonrpc":"2.0","id":"7","method":"ping","params":{}}', ['7', 'answered']],
    ['{"jsonrpc":"2.0","id":7,"method":"ping","more":1}', [7, 'answered']],
    ['\uFEFF{"jsonrpc":"2.0","id":8,"method":"ping"}', [8, 'answered']],
    ['{"jsonrpc":"2.0","method":"ping"}', undefined],
    ['{"jsonrpc":"2.0","id":7,"method":"ping","params":null}', [7, -32602], params],
    ['{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}', [7, -32602], params],
    ['{"jsonrpc":"2.0","method":"ping","params":null}', [null, -32602], params],
    ['{"id":7,"method":"ping"}', [7, -32600], /"jsonrpc" must be "2.0"/],
    ['{"jsonrpc":"1.0","id":7,"method":"ping"}', [7, -32600], /"jsonrpc" must be "2.0"/],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', [null, -32600], id],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', [1.5, -32600], id],
    ['{"jsonrpc":"2.0","id":true,"method":"ping"}', [null, -32600], id],
    ['{"jsonrpc":"2.0","id":7}', [7, -32600], /"method" must be a string/],
    ['{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":9007199254740993}}', [7, -32600], /is not exact/],
    ['{"jsonrpc":"2.0","id":7,', [null, -32700], /^invalid request: it is not JSON/],
    ['null', [null, -32600], /a request must be an object/],
    ['[]', [null, -32600], /the batch is empty/],
    ['[{"jsonrpc":"2.0","id":7,"method":"ping"}]', [[7, 'answered']]],
    [
      '[{"jsonrpc":"2.0","id":7,"method":"ping"},1,{"jsonrpc":"2.0","method":"ping"},{"id":8,"method":"ping"}]',
      [
        [7, 'answered'],
        [8, -32600],
        [null, -32600],
      ],
    ],
    [
      '[{"jsonrpc":"2.0","id":7,"method":"ping","params":[]},{"jsonrpc":"2.0","id":1.5,"method":"ping"}]',
      [
        [1.5, -32600],
        [7, -32602],
      ],
    ],
    ['[{"jsonrpc":"2.0","method":"ping"}]', undefined],
  ]

  // MCP omits an id that is not known, where JSON-RPC has null.
  const outcome = ({id: of = null, error}: Answer): Outcome => [of, error?.code ?? 'answered']

  for (const [transport, open] of Object.entries({stdio, http, webSocket, daemon}))
    describe(`over ${transport}`, {concurrency: false}, () => {
      for (const [frame, expected, message = /./] of frames)
        it(`is answered alike: ${frame}`, async () => {
          const answer = await (await open())(frame)
          if (!Array.isArray(answer)) {
            assert.deepEqual(answer && outcome(answer), expected, JSON.stringify(answer))
            if (answer?.error !== undefined) assert.match(answer.error.message, message)
          } else assert.deepEqual(answer.map(outcome).sort(byId), expected, JSON.stringify(answer))
        })
    })

  const byId = ([a]: Outcome, [b]: Outcome) => (String(a) < String(b) ? -1 : 1)

  for (const [method, wrong, reason] of [
    ['logging/setLevel', {level: 'bogus'}, /: level: expected one of "debug"/],
    ['resources/read', {}, /: uri: expected string, received undefined\.$/],
    ['resources/read', undefined, /: params: expected object, received undefined\.$/],
    ['prompts/get', {}, /: name: expected string/],
    ['resources/list', {cursor: 5}, /: cursor: expected string, received number/],
    ['completion/complete', {ref: {type: 'x'}}, /: ref\.type: expected "ref\/prompt"/],
    ['ping', {_meta: 5}, /"params\._meta" must be an object/],
  ] as const)
    it(`refuses ${method} with ${JSON.stringify(wrong)} with one sentence`, async () => {
      const frame = JSON.stringify({jsonrpc: '2.0', id: 3, method, params: wrong})
      for (const open of [stdio, http]) {
        const {id: of, error} = (await (await open())(frame)) as Answer
        assert.deepEqual([of, error?.code], [3, -32602])
        assert.match(error?.message ?? '', reason)
        assert.doesNotMatch(error?.message ?? '', /[{\n]/)
      }
    })

  for (const [method, what, codes] of [
    ['skills/list', undefined, []],
    ['skills/get', {uri: 'skill://svc-db/SKILL.md'}, []],
    ['resources/read', {uri: 'skill://svc-db/references/db-language.md'}, []],
    ['skills/get', {}, [-32602, -32602, -32602, -32602]],
    // The daemon has a code of its own for what does not exist.
    ['skills/get', {uri: 'skill://svc-other/SKILL.md'}, [-32602, -32602, -32602, 404]],
    ['resources/read', {uri: 'skill://svc-db/../SKILL.md'}, [-32602, -32602, -32602, 404]],
  ] as const)
    it(`about skills is answered alike: ${method} ${JSON.stringify(what)}`, async () => {
      const frame = JSON.stringify({jsonrpc: '2.0', id: 9, method, params: what})
      const answers: Answer[] = []
      for (const open of [stdio, http, webSocket, daemon]) answers.push((await (await open())(frame, true)) as Answer)
      if (codes.length > 0) {
        assert.deepEqual(
          answers.map(({error}) => error?.code),
          codes,
        )
        return
      }
      const [first, ...others] = answers.map(({result}) => result)
      assert.equal(typeof first, 'object', JSON.stringify(answers[0]?.error))
      for (const result of others) assert.deepEqual(result, first)
    })

  it('with a numeric id as text finds the task', async () => {
    const submit = {name: 'svc_submit_task', arguments: {description: 'x', processor: 'external'}}
    const call = (of: number, what: object) =>
      JSON.stringify({jsonrpc: '2.0', id: of, method: 'tools/call', params: what})
    const ask = await http()
    await ask(call(4, submit))
    const {result} = (await ask(call(5, {name: 'svc_task_status', arguments: {task_id: '1'}}))) as Answer
    assert.equal((result as {structuredContent: {data: {task_id: number}}}).structuredContent.data.task_id, 1)
  })
})
