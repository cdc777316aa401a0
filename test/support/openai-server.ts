import {once} from 'node:events'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {json} from 'node:stream/consumers'
import type {TestContext} from 'node:test'

export interface OpenAiCall {
  path: string | undefined
  authorization: string | undefined
  body: unknown
}

/** A server with only the API of OpenAI, whose answer to each chat is scripted. It ends with the test. */
export async function openAiServer(test: Pick<TestContext, 'after'>, answer: (call: OpenAiCall) => object) {
  const calls: OpenAiCall[] = []
  const server = createServer(async (request, response) => {
    const body = request.method === 'POST' ? await json(request) : undefined
    const call = {path: request.url, authorization: request.headers.authorization, body}
    calls.push(call)
    if (request.url === '/v1/models') return void response.end('{"data": [{"id": "first"}, {"id": "second"}]}')
    if (request.url === '/v1/chat/completions') return void response.end(JSON.stringify(answer(call)))
    response.writeHead(404).end('{"error": {"message": "no such route"}}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.after(() => server.close())
  return {calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`}
}

/** A response with one message. */
export const openAiMessage = (content: string) => ({choices: [{message: {role: 'assistant', content}}]})
