import {readFile, rename, stat} from 'node:fs/promises'
import {resolve} from 'node:path'
import {meshNodeSettings, resolveSettings, type SettingSources} from '../../config/index.js'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {lockFile, writeFileAtomic} from '../../files/index.js'
import {type NodeRecord, nodesSchemaVersion} from '../protocol/node.js'
import {userFile} from './home.js'

/** The nodes that processes of this machine were started as, in the shape in which a control plane lists nodes. */
export interface LocalRegistry {
  schema_version: number
  nodes: NodeRecord[]
}

/** A node that was not heard of for so long is forgotten, ms. */
const forgottenMs = 24 * 3600 * 1000
/** Bytes that a registry may have. */
const largest = 16 << 20

export function registryPath(sources: SettingSources): string {
  const {registryPath: given} = resolveSettings(meshNodeSettings, sources).values
  return given === undefined ? userFile(sources.env, 'cache', 'mesh', 'local-registry.json') : resolve(given)
}

/**
 * Reads a registry. One that is not there has no nodes; rows without an id are passed over.
 * @throws document_unparsable where it is damaged; file_unreadable
 */
export async function readLocalRegistry(path: string): Promise<LocalRegistry> {
  const text = await readText(path)
  if (text === undefined) return {schema_version: nodesSchemaVersion, nodes: []}
  try {
    return asRegistry(JSON.parse(text))
  } catch (error) {
    throw new SvcError('document_unparsable', {subject: path, reason: (error as Error).message}, {cause: error})
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path)
    const unreadable = (reason: string) => new SvcError('file_unreadable', {path, reason})
    // A device or a pipe may never end.
    if (!found.isFile()) throw unreadable(found.isDirectory() ? 'it is a directory' : 'it is not a regular file')
    if (found.size > largest) throw unreadable(`it is larger than ${largest} bytes`)
    return await readFile(path, 'utf8')
  } catch (error) {
    const fault = SvcError.from(error)
    if (isErrorOf(fault, 'file_not_found')) return undefined
    throw fault
  }
}

function asRegistry(value: unknown): LocalRegistry {
  const {schema_version: version, nodes} = Object(value) as Record<string, unknown>
  if (!Array.isArray(nodes)) throw new TypeError('it lists no nodes')
  return {
    schema_version: typeof version === 'number' ? version : nodesSchemaVersion,
    nodes: nodes.filter((node): node is NodeRecord => typeof Object(node).id === 'string'),
  }
}

/** What became of a registry beside its new row. */
export interface Publication {
  /** Where a registry that could not be read lies now. */
  movedTo?: string
}

/**
 * Puts a node into a registry, in the place of what it reported before, and takes out those that were not heard of for a
 * day. Of several processes that do so at once, each one's row is there afterwards. A registry that is damaged is moved
 * aside: what it says is not lost, and keeps nobody out.
 * @throws file_unreadable, disk_full
 */
export async function publishNode(path: string, node: NodeRecord, nowMs: number): Promise<Publication> {
  for (;;) {
    const lock = await lockFile(path)
    try {
      const {registry, ...publication} = await readOrMoveAside(path, nowMs)
      const nodes = registry.nodes.filter(
        ({id, last_seen_unix_ms: seen}) => id !== node.id && !isForgotten(seen, nowMs),
      )
      const next: LocalRegistry = {...registry, nodes: [...nodes, node].sort(byId)}
      // Whoever was stopped in the meantime has read what may be old by now.
      if (!(await lock.isHeld())) continue
      await writeFileAtomic(path, `${JSON.stringify(next, null, 2)}\n`)
      return publication
    } finally {
      await lock.release()
    }
  }
}

async function readOrMoveAside(path: string, nowMs: number): Promise<{registry: LocalRegistry} & Publication> {
  try {
    return {registry: await readLocalRegistry(path)}
  } catch (error) {
    if (!isErrorOf(error, 'document_unparsable')) throw error
    const movedTo = `${path}.damaged-${nowMs}`
    await rename(path, movedTo)
    return {registry: {schema_version: nodesSchemaVersion, nodes: []}, movedTo}
  }
}

/** A stamp of the future is kept; what has none was never heard of. */
const isForgotten = (seen: unknown, nowMs: number): boolean => typeof seen !== 'number' || nowMs - seen > forgottenMs

const byId = (a: NodeRecord, b: NodeRecord): number => (a.id < b.id ? -1 : Number(a.id > b.id))
