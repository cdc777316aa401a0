import {SvcError} from '../../errors/index.js'
import type {Registry} from '../protocol/node.js'
import type {Reply} from './call.js'
import {MeshHttpError, snippetOf} from './error.js'
import {readDate} from './retry.js'

type Scalars = Readonly<Record<string, 'string' | 'number'>>

/** What a member of an answer has to be for the answer to be of use: a list has rows with members of their own. */
type Needs = Readonly<Record<string, 'string' | 'number' | Scalars>>

/**
 * The object that an answer is. Newer control planes send more, so that only what is needed is looked at.
 * @throws MeshHttpError of the kind `json`
 */
export function readObject<T extends object>(reply: Reply, needs: Needs): T {
  const members = Object(parse(reply)) as Record<string, unknown>
  for (const [name, need] of Object.entries(needs)) {
    const value = members[name]
    const fault = typeof need === 'object' ? faultOfList(name, value, need) : faultOf(name, value, need)
    if (fault !== undefined) throw unreadable(reply, fault)
  }
  return members as T
}

/** The nodes that an answer lists, without what has no id: nobody could speak of it. */
export function readNodes(reply: Reply): Registry {
  const registry = readObject<Registry>(reply, {nodes: {}})
  return {...registry, nodes: registry.nodes.filter((node) => typeof Object(node).id === 'string')}
}

const faultOf = (name: string, value: unknown, type: 'string' | 'number') =>
  typeof value === type ? undefined : `it has no ${name}`

function faultOfList(name: string, value: unknown, needs: Scalars): string | undefined {
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

/** The parser quotes a part of the text, perhaps that of a secret: so it parses one without secrets. */
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

/** When the control plane answered, by its header, Unix ms: the second in which it was. */
export const answeredAt = ({headers}: Reply): number | undefined => readDate(headers.date)
