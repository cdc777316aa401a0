import {type MeshOperation, routes} from '../../mesh/index.js'
import type {Call, Credential} from '../history/history.js'
import type {Keyring} from '../server/keyring.js'
import {type Answer, exchange} from './exchange.js'
import {recordedBody} from './recorded-body.js'

export interface ClientRequest {
  operation: MeshOperation
  /** Body of the request; of a GET, its query. */
  body?: Readonly<Record<string, unknown>>
  /** Body as it is logged; default: the complete body. */
  args?: Readonly<Record<string, unknown>>
  /** Credential; default: the usual token for the route. */
  shown?: Partial<Credential>
  /** Subject of a signed token. */
  node?: string
  timeoutMs?: number
}

/** Sends one request and logs the result. */
export type CallServer = (who: string, ask: ClientRequest) => Promise<Call>

export interface CallerOptions {
  port: number
  keyring: Keyring
  /** Number of the next request. */
  nextId: () => number
  /** Default request timeout, ms. */
  timeoutMs: number
  onCall: (call: Call) => void
}

const usualRole = {
  open: 'none',
  worker: 'worker',
  deliver: 'submitter',
  blob: 'worker',
  admin: 'admin',
  bootstrap: 'bootstrap',
} as const

/** Sends the requests of all clients over plain HTTP. */
export function createCaller({port, nextId, keyring, timeoutMs: usualMs, onCall}: CallerOptions): CallServer {
  /** Last reported server time, Unix ms, and when it was received. */
  let clock = {unixMs: Date.now(), at: performance.now()}
  const serverNow = () => clock.unixMs + performance.now() - clock.at

  return async (who, {operation, body = {}, args = body, shown: requested, node, timeoutMs = usualMs}) => {
    const {plane, method, path} = routes[operation]
    const shown: Credential = {role: usualRole[plane], generation: keyring.current, ...requested}
    const id = nextId()
    const token = keyring.textOf(shown, node, serverNow())
    const sent = performance.now()
    const answer = await exchange({
      port,
      method,
      path: method === 'GET' ? `${path}${queryOf(body)}` : path,
      headers: {'x-request-id': `prove-${id}`, ...(token === undefined ? {} : {authorization: `Bearer ${token}`})},
      body: method === 'GET' ? undefined : JSON.stringify(body),
      timeoutMs,
    })
    const answered = performance.now()
    const call: Call = {id, who, operation, shown, args, sent, answered, ...factsOf(operation, answer, keyring)}
    const {server_time_unix_ms: unixMs} = call.body ?? {}
    if (typeof unixMs === 'number') clock = {unixMs, at: answered}
    onCall(call)
    return call
  }
}

type Facts = Pick<Call, 'status' | 'body' | 'retryAfter' | 'code' | 'failure' | 'leaked'>

/** What a call has found out, without secrets. */
export function factsOf(operation: MeshOperation, answer: Answer, keyring: Keyring): Facts {
  if ('failure' in answer) return answer
  const {text, ...facts} = answer
  const body = recordedBody(operation, text)
  const mayHoldSecret = operation === 'bootstrap_exchange' && facts.status === 200
  const isLeak = !mayHoldSecret && [...keyring.secrets().values()].some((secret) => text.includes(secret))
  return {
    ...facts,
    ...(body === undefined ? {} : {body}),
    ...(typeof body?.code === 'string' ? {code: body.code} : {}),
    ...(isLeak ? {leaked: true} : {}),
  }
}

function queryOf(body: Readonly<Record<string, unknown>>): string {
  const query = Object.entries(body).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  return query.length === 0 ? '' : `?${query.join('&')}`
}
