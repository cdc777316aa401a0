import {once} from 'node:events'
import {createServer, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {json} from 'node:stream/consumers'
import type {TestContext} from 'node:test'

/** The body of a request to `/api/generate`. */
export interface GenerateCall {
  model: string
  system: string
  prompt: string
  stream: boolean
  format?: unknown
  options: {temperature: number; num_predict: number; num_ctx?: number}
}

/** The body of a request to `/api/chat`. */
export interface ChatCall {
  model: string
  messages: {role: string; content: string}[]
  tools?: {type: string; function: {name: string; parameters: object}}[]
  stream: boolean
  format?: unknown
  options: {temperature: number; top_p?: number; num_predict: number}
}

/** Responds to a request. `count` is 1 for the first one. */
export type Answer<C = GenerateCall> = (response: ServerResponse, call: C, count: number) => unknown

export type Models = readonly string[] | 'none' | 'silence'

export interface ScriptedInference<C = GenerateCall> {
  baseUrl: string
  /** Bodies of the generation requests, in order. */
  calls: C[]
  /** Headers of all requests, in order. */
  headers: Readonly<Record<string, unknown>>[]
  /** Resolves when a client disconnects before its response is complete. */
  hungUp: Promise<void>
}

/** A server with scripted responses to `/api/generate`. It ends with the test. */
export const scriptedInference = (
  test: Pick<TestContext, 'after'>,
  answer: Answer,
  models: Models = ['run-a'],
  shown?: object,
) => serve<GenerateCall>(test, {path: '/api/generate', answer, models, shown})

/** The same for `/api/chat`. */
export const scriptedChat = (test: Pick<TestContext, 'after'>, answer: Answer<ChatCall>, models: Models = ['run-a']) =>
  serve<ChatCall>(test, {path: '/api/chat', answer, models})

interface Serving<C> {
  path: string
  answer: Answer<C>
  models: Models
  /** Response of `/api/show` for a model; by default the route does not exist. */
  shown?: object | undefined
}

async function serve<C>(
  test: Pick<TestContext, 'after'>,
  {path, answer, models, shown}: Serving<C>,
): Promise<ScriptedInference<C>> {
  const calls: C[] = []
  const headers: ScriptedInference['headers'] = []
  let hangUp = () => {}
  const hungUp = new Promise<void>((resolve) => {
    hangUp = resolve
  })
  const server = createServer(async (request, response) => {
    headers.push(request.headers)
    response.on('close', () => {
      if (!response.writableFinished) hangUp()
    })
    if (request.url === '/api/tags' && models === 'silence') return
    if (request.url === '/api/tags' && models !== 'none')
      return void response.end(JSON.stringify({models: [...models].map((name) => ({name}))}))
    if (request.url === '/api/show' && shown !== undefined) return void response.end(JSON.stringify(shown))
    if (request.url !== path) return void response.writeHead(404).end('{"error":"no such route"}')
    const call = (await json(request).catch(() => undefined)) as C
    if (request.errored !== null) return
    await answer(response, call, calls.push(call))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls, headers, hungUp}
}

/** The lines of a complete response of `/api/generate`, one per word. */
export const answerLines = (text: string, end: object = {}): string =>
  [
    ...text.split(/(?<= )/).map((response) => ({response, done: false})),
    {response: '', done: true, done_reason: 'stop', ...end},
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')

/** The lines of a complete response of `/api/chat`, one per word. */
export const chatLines = (text: string, end: object = {}): string =>
  [
    ...text.split(/(?<= )/).map((content) => ({message: {role: 'assistant', content}, done: false})),
    {message: {role: 'assistant', content: ''}, done: true, done_reason: 'stop', ...end},
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')

/** The lines of a complete response of `/api/chat` that calls tools. */
export const callLines = (...calls: readonly {name: string; arguments: unknown}[]): string =>
  [
    {message: {role: 'assistant', content: '', tool_calls: calls.map((called) => ({function: called}))}, done: false},
    {message: {role: 'assistant', content: ''}, done: true, done_reason: 'stop'},
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')

/** Returns complete answers in turn. */
export const inTurn =
  (...texts: string[]): Answer<ChatCall> =>
  (response, _call, count) =>
    response.end(chatLines(texts[count - 1] ?? 'enough', {prompt_eval_count: 100, eval_count: 10 * count}))
