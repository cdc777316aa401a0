import {type IncomingMessage, request} from 'node:http'

export interface Request {
  port: number
  method: 'GET' | 'POST' | 'PUT'
  path: string
  headers: Readonly<Record<string, string>>
  /** JSON text. */
  body: string | undefined
  timeoutMs: number
}

/** Response, or the reason why none arrived. */
export type Answer = {status: number; text: string; retryAfter?: string} | {failure: string}

/** Sends a request on its own connection. Retries or pooling would hide what happened to it. */
export function exchange({port, method, path, headers, body, timeoutMs}: Request): Promise<Answer> {
  return new Promise((resolve) => {
    const length = body === undefined ? {} : {'content-length': String(Buffer.byteLength(body))}
    const type = body === undefined ? {} : {'content-type': 'application/json'}
    const asked = request(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        agent: false,
        headers: {...headers, ...type, ...length, connection: 'close'},
      },
      (answer) => readAnswer(answer).then(resolve, fail),
    )
    const timer = setTimeout(() => {
      resolve({failure: 'timeout'})
      asked.destroy()
    }, timeoutMs)
    function fail(error: NodeJS.ErrnoException): void {
      resolve({failure: error.code ?? error.message})
    }
    asked.once('error', fail)
    asked.once('close', () => clearTimeout(timer))
    asked.end(body)
  })
}

async function readAnswer(answer: IncomingMessage): Promise<Answer> {
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) text += chunk
  const {statusCode: status = 0, headers} = answer
  const retryAfter = headers['retry-after']
  return {status, text, ...(retryAfter === undefined ? {} : {retryAfter})}
}
