import {once} from 'node:events'
import {createServer, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {json} from 'node:stream/consumers'
import type {TestContext} from 'node:test'

/** The body of a call of `/api/generate`. */
export interface GenerateCall {
  model: string
  system: string
  prompt: string
  stream: boolean
  options: {temperature: number; num_predict: number}
}

/** Answers one call, well or badly. `count` is 1 for the first one. */
export type Answer = (response: ServerResponse, call: GenerateCall, count: number) => unknown

export interface ScriptedInference {
  baseUrl: string
  /** Calls of `/api/generate`, in order. */
  calls: GenerateCall[]
  /** Headers of every request, in order. */
  headers: Readonly<Record<string, unknown>>[]
  /** Resolves when a client has gone before its answer was whole. */
  hungUp: Promise<void>
}

/** A real server that says what a test wants it to say. It ends with the test. */
export async function scriptedInference(
  test: Pick<TestContext, 'after'>,
  answer: Answer,
  models: readonly string[] | 'none' | 'silence' = ['run-a'],
): Promise<ScriptedInference> {
  const calls: GenerateCall[] = []
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
    if (request.url !== '/api/generate') return void response.writeHead(404).end('{"error":"no such route"}')
    const call = (await json(request)) as GenerateCall
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

/** The lines of a whole answer, one per word. */
export const answerLines = (text: string, end: object = {}): string =>
  [
    ...text.split(/(?<= )/).map((response) => ({response, done: false})),
    {response: '', done: true, done_reason: 'stop', ...end},
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')
