import {once} from 'node:events'
import {createServer, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {json} from 'node:stream/consumers'
import type {TestContext} from 'node:test'

/** The body of a request to `/v1/chat/completions`. */
export interface Completion {
  model: string
  messages: {role: string; content: string}[]
  temperature: number
  max_tokens: number
  stream: boolean
}

interface Serving {
  answer(response: ServerResponse): unknown
  models?: readonly string[]
}

/** A server with only the routes of the OpenAI API that clients need. It ends with the test. */
export async function openAiServer(test: Pick<TestContext, 'after'>, {answer, models = ['corrector']}: Serving) {
  const calls: {path: string | undefined; token: string | undefined; body: Completion | undefined}[] = []
  let hangUp = () => {}
  const hungUp = new Promise<void>((resolve) => {
    hangUp = resolve
  })
  const server = createServer(async (request, response) => {
    const {url: path, method, headers} = request
    response.on('close', () => {
      if (!response.writableFinished) hangUp()
    })
    const body =
      method === 'POST' ? ((await json(request).catch(() => undefined)) as Completion | undefined) : undefined
    if (request.errored !== null) return
    calls.push({path, token: headers.authorization, body})
    if (path === '/v1/models') response.end(JSON.stringify({data: models.map((id) => ({id}))}))
    else if (path === '/v1/chat/completions') answer(response)
    else response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    /** Resolves when a client disconnects before its response is complete. */
    hungUp,
  }
}

/** Answers with one message. */
export const completion = (content: unknown) => (response: ServerResponse) =>
  response.end(JSON.stringify({choices: [{message: {role: 'assistant', content}}]}))
