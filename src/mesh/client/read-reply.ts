import {SvcError} from '../../errors/index.js'
import type {Registry} from '../protocol/node.js'
import type {Reply} from './call.js'
import {MeshHttpError, snippetOf} from './error.js'
import {readDate} from './retry.js'

type Scalars = Readonly<Record<string, 'string' | 'number'>>

/** Required members of a response by type; for a list, the required members of its items. */
type Needs = Readonly<Record<string, 'string' | 'number' | Scalars>>

/**
 * Parses a response. Only the required members are checked, because newer control planes may send more.
 * @throws MeshHttpError of the kind `json`
 */
export function readObject<T extends object>(reply: Reply, needs: Needs): T {
  const members = Object(parse(reply)) as Record<string, unknown>
  for (const [name, need] of Object.entries(needs)) {
    const value = members[name]
    const problem = typeof need === 'object' ? listProblem(name, value, need) : memberProblem(name, value, need)
    if (problem !== undefined) throw unreadable(reply, problem)
  }
  return members as T
}

/** Parses a list of nodes and drops those without an id. */
export function readNodes(reply: Reply): Registry {
  const registry = readObject<Registry>(reply, {nodes: {}})
  return {...registry, nodes: registry.nodes.filter((node) => typeof Object(node).id === 'string')}
}

const memberProblem = (name: string, value: unknown, type: 'string' | 'number') =>
  typeof value === type ? undefined : `it has no ${name}`

function listProblem(name: string, value: unknown, needs: Scalars): string | undefined {
  if (!Array.isArray(value)) return `it lists no ${name}`
  for (const row of value)
    for (const [member, type] of Object.entries(needs))
      if (typeof Object(row)[member] !== type) return `one of its ${name} has no ${member}`
  return undefined
}

function parse(reply: Reply): unknown {
  const {text, redact} = reply
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    throw unreadable(reply, reasonOf(redact(text)), 'control_plane_missing')
  }
}

/** JSON.parse quotes part of the text in its message, so the message is created from the redacted text. */
function reasonOf(text: string): string {
  try {
    JSON.parse(text)
    return 'it is not JSON'
  } catch (error) {
    return (error as Error).message
  }
}

function unreadable(
  {operation, status, baseUrl, url, text, redact}: Reply,
  reason: string,
  code?: 'control_plane_missing',
) {
  return new MeshHttpError({
    kind: 'json',
    context: operation,
    status,
    cause:
      code === undefined
        ? new SvcError('document_unparsable', {subject: url, reason})
        : new SvcError(code, {url: baseUrl, reason}),
    isTransient: false,
    bodySnippet: snippetOf(text, redact),
  })
}

/** Time of the response from its Date header, Unix ms, truncated to seconds. */
export const answeredAt = ({headers}: Reply): number | undefined => readDate(headers.date)
