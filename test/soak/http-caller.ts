import {Agent, type IncomingMessage, request} from 'node:http'
import type {Random} from '../support/random.js'
import type {Tally} from './client.js'

export interface Answer {
  status: number
  text: string
}

/** Maximum number of concurrent requests per client, for example a long poll and another request. */
const maxSockets = 4
const timeoutMs = 120_000

/** HTTP client with its own connections. Counts unexpected results. */
export class HttpCaller {
  readonly #agent = new Agent({keepAlive: true, maxSockets})
  readonly #baseUrl: string
  readonly #tally: Tally

  constructor(baseUrl: string, tally: Tally) {
    this.#baseUrl = baseUrl
    this.#tally = tally
  }

  /**
   * Sends a request and reads the complete response. A body that is not a string is sent as JSON.
   * @param expected permitted statuses
   */
  async send(method: string, path: string, body: unknown, ...expected: number[]): Promise<Answer> {
    this.#tally.requests++
    const place = `${method} ${path}`
    try {
      const answer = await this.#exchange(method, path, textOf(body))
      if (!expected.includes(answer.status))
        this.#tally.fault(`${place}: ${answer.status} ${answer.text.slice(0, 300)}`)
      return answer
    } catch (error) {
      this.#tally.fault(`${place}: ${(error as Error).message}`)
      return {status: 0, text: ''}
    }
  }

  /** Sends a request and aborts it: in the middle of the body, at the first byte of the response, or after a while. */
  async abort(method: string, path: string, body: unknown, random: Random): Promise<void> {
    this.#tally.requests++
    this.#tally.aborted++
    const when = random.pick(['in the body', 'at the first byte', 'later'])
    const text = textOf(body) ?? ''
    await new Promise<void>((resolve) => {
      const outgoing = request(this.#baseUrl + path, {
        method,
        agent: false,
        headers: {'content-type': 'application/json', 'content-length': Buffer.byteLength(text)},
      })
      const breakOff = () => outgoing.destroy()
      outgoing.on('error', () => undefined)
      outgoing.on('close', resolve)
      outgoing.on('response', (response) => {
        response.on('error', () => undefined)
        if (when === 'at the first byte') response.once('data', breakOff)
        else response.resume()
      })
      if (when === 'in the body') outgoing.write(text.slice(0, Math.floor(text.length / 2)), breakOff)
      else outgoing.end(text)
      if (when === 'later') setTimeout(breakOff, random.below(100))
      outgoing.setTimeout(timeoutMs, breakOff)
    })
  }

  close(): void {
    this.#agent.destroy()
  }

  async #exchange(method: string, path: string, text: string | undefined, isRetry = false): Promise<Answer> {
    const outgoing = request(this.#baseUrl + path, {
      method,
      agent: this.#agent,
      timeout: timeoutMs,
      ...(text === undefined
        ? {}
        : {headers: {'content-type': 'application/json', 'content-length': Buffer.byteLength(text)}}),
    })
    try {
      return await new Promise<Answer>((resolve, reject) => {
        outgoing.on('error', reject)
        outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${timeoutMs} ms`)))
        outgoing.on('response', (response) => readText(response).then(resolve, reject))
        outgoing.end(text)
      })
    } catch (error) {
      // The server may close an idle connection just when it is reused.
      const isStale = outgoing.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
      if (isStale && !isRetry) return this.#exchange(method, path, text, true)
      throw error
    }
  }
}

const textOf = (body: unknown): string | undefined =>
  body === undefined || typeof body === 'string' ? body : JSON.stringify(body)

async function readText(response: IncomingMessage): Promise<Answer> {
  response.setEncoding('utf8')
  let text = ''
  for await (const chunk of response) text += chunk
  return {status: response.statusCode ?? 0, text}
}
