import {type MeshOperation, routes} from '../../mesh/index.js'
import type {Call} from '../history/history.js'
import type {Observer} from '../proxy/fault-proxy.js'
import {headerOf, type RequestFrame, statusOf} from '../proxy/request-frame.js'
import type {Keyring} from '../server/keyring.js'
import {factsOf} from './caller.js'

export interface ObserverOptions {
  /** Name of the program. */
  who: string
  nextId: () => number
  keyring: Keyring
  onCall: (call: Call) => void
}

/** Logs the requests that a program sends through a proxy as its calls. */
export const observeProgram = ({who, nextId, keyring, onCall}: ObserverOptions): Observer => ({
  nextId,
  answered({frame, sent, answered, answer}) {
    const request = requestOf(frame)
    if (request === undefined) return
    const {operation, args} = request
    const head = frame.bytes.toString('latin1', 0, frame.headLength)
    const shown = keyring.credentialOf(headerOf(head, 'authorization')?.replace(/^Bearer /, ''))
    const facts = factsOf(operation, answer === undefined ? {failure: 'lost'} : answerOf(answer), keyring)
    onCall({id: frame.id, who, operation, shown, args, sent, answered, isObserved: true, ...facts})
  },
})

const endOfHead = '\r\n\r\n'

function answerOf(bytes: Buffer) {
  const at = bytes.indexOf(endOfHead)
  const retryAfter = headerOf(bytes.toString('latin1', 0, at), 'retry-after')
  const text = bytes.toString('utf8', at + endOfHead.length)
  return {status: statusOf(bytes) ?? 0, text, ...(retryAfter === undefined ? {} : {retryAfter})}
}

/** Operation and arguments of a request; undefined if there is no such route. */
function requestOf({method, path, bytes, headLength}: RequestFrame) {
  const [pathname = '', search] = path.split('?', 2)
  const found = Object.entries(routes).find(
    (entry) => entry[1].method === method && patternOf(entry[1].path).test(pathname),
  )
  if (found === undefined) return undefined
  const operation = found[0] as MeshOperation
  return {operation, args: method === 'POST' ? bodyOf(bytes.toString('utf8', headLength)) : queryOf(search)}
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/\{\w+\}/, '[^/]+')}$`)

function bodyOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** Numbers in a query become numbers, like those in the calls of clients. */
const queryOf = (search = ''): Record<string, unknown> =>
  Object.fromEntries([...new URLSearchParams(search)].map(([name, value]) => [name, numberOr(value)]))

const numberOr = (value: string) => (/^\d{1,15}$/.test(value) ? Number(value) : value)
