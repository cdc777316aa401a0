import {once} from 'node:events'
import {createServer, request as forward, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'
import {buffer} from 'node:stream/consumers'

/** Treatment of a request: pass, lose it, lose its response, or refuse it with a status. */
export type Fate = 'pass' | 'lose request' | 'lose answer' | {status: number; retryAfter?: number}

/** Logged request. */
export interface Passage {
  /** `POST /v1/mesh/join` */
  route: string
  body: string
  /** Monotonic time of arrival, ms. */
  atMs: number
  fate: Fate
  /** Response received by the client. */
  status?: number
  retryAfterMs?: number
}

export interface LoggingProxy {
  readonly url: string
  /** In order. */
  readonly log: Passage[]
  /** Treatment of the next requests in order; later ones pass. */
  fates: Fate[]
  /** Chooses the treatment of the requests for which `fates` has none. A request waits for a promise. */
  decide?: (request: Pick<Passage, 'route' | 'body'>) => Fate | Promise<Fate>
  /** Breaks all connections of clients, also those with a request in progress. */
  disconnect(): void
}

/** Proxy that logs requests and injects faults. */
export async function loggingProxy(test: {after(work: () => unknown): void}, target: string): Promise<LoggingProxy> {
  const log: Passage[] = []
  const proxy: LoggingProxy = {url: '', log, fates: [], disconnect: () => server.closeAllConnections()}
  const server = createServer(async (request, response) => {
    const atMs = performance.now()
    const body = await buffer(request)
    const {method = '', url = '', headers} = request
    const asked = {route: `${method} ${url}`, body: body.toString('utf8')}
    const fate = proxy.fates.shift() ?? (await proxy.decide?.(asked)) ?? 'pass'
    const passage: Passage = {...asked, atMs, fate}
    log.push(passage)
    if (fate === 'lose request') return response.destroy()
    if (typeof fate === 'object') {
      const {status, retryAfter} = fate
      return answer(passage, response, {status, retryAfter: retryAfter?.toString(), body: Buffer.from('{}')})
    }
    const onward = forward(target + url, {method, headers})
    onward.end(body)
    const reply = await once(onward, 'response').catch(() => undefined)
    const whole = reply === undefined ? undefined : await buffer(reply[0]).catch(() => undefined)
    // A target that stops resets its connections.
    if (fate === 'lose answer' || reply === undefined || whole === undefined) return response.destroy()
    const [{statusCode, headers: received}] = reply
    return answer(passage, response, {
      status: statusCode,
      retryAfter: received['retry-after'],
      date: received.date,
      type: received['content-type'],
      body: whole,
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(proxy, {url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`})
}

interface Reply {
  status: number
  retryAfter?: string | undefined
  date?: string | undefined
  type?: string | undefined
  body: Buffer
}

function answer(passage: Passage, response: ServerResponse, {status, retryAfter, date, type, body}: Reply): void {
  passage.status = status
  if (retryAfter !== undefined) passage.retryAfterMs = Number(retryAfter) * 1000
  const headers = {'retry-after': retryAfter, date, 'content-type': type}
  const given = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  response.writeHead(status, Object.fromEntries(given)).end(body)
}
