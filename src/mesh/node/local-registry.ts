import {readFile, rename, stat} from 'node:fs/promises'
import {resolve} from 'node:path'
import {meshNodeSettings, resolveSettings, type SettingSources} from '../../config/index.js'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {lockFile, writeFileAtomic} from '../../files/index.js'
import {type NodeRecord, nodesSchemaVersion} from '../protocol/node.js'
import {userFile} from './home.js'

/** Nodes of the processes of this machine, in the format of the control plane's node list. */
export interface LocalRegistry {
  schema_version: number
  nodes: NodeRecord[]
}

/** Age after which a node is removed, ms. */
const maxAgeMs = 24 * 3600 * 1000
/** Maximum size of a registry file, bytes. */
const maxBytes = 16 << 20

export function registryPath(sources: SettingSources): string {
  const {registryPath: path} = resolveSettings(meshNodeSettings, sources).values
  return path === undefined ? userFile(sources.env, 'cache', 'mesh', 'local-registry.json') : resolve(path)
}

/**
 * Reads a registry. A missing file is an empty registry; entries without an id are skipped.
 * @throws document_unparsable if it is corrupt; file_unreadable
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
    // Reading a device or pipe may never end.
    if (!found.isFile()) throw unreadable(found.isDirectory() ? 'is a directory' : 'not a regular file')
    if (found.size > maxBytes) throw unreadable(`larger than ${maxBytes} bytes`)
    return await readFile(path, 'utf8')
  } catch (error) {
    const failure = SvcError.from(error)
    if (isErrorOf(failure, 'file_not_found')) return undefined
    throw failure
  }
}

function asRegistry(value: unknown): LocalRegistry {
  const {schema_version: version, nodes} = Object(value) as Record<string, unknown>
  if (!Array.isArray(nodes)) throw new TypeError('it has no list of nodes')
  return {
    schema_version: typeof version === 'number' ? version : nodesSchemaVersion,
    nodes: nodes.filter((node): node is NodeRecord => typeof Object(node).id === 'string'),
  }
}

export interface Publication {
  /** New path of a corrupt registry that was moved aside. */
  movedTo?: string
}

/**
 * Adds or replaces a node in a registry and removes nodes that were not seen for a day. Safe against concurrent
 * writers. A corrupt registry is moved aside, so that its contents are preserved and do not block new entries.
 * @throws file_unreadable, disk_full
 */
export async function publishNode(path: string, node: NodeRecord, nowMs: number): Promise<Publication> {
  for (;;) {
    const lock = await lockFile(path)
    try {
      const {registry, ...publication} = await readOrMoveAside(path, nowMs)
      const nodes = registry.nodes.filter(({id, last_seen_unix_ms: seen}) => id !== node.id && !isExpired(seen, nowMs))
      const next: LocalRegistry = {...registry, nodes: [...nodes, node].sort(byId)}
      // If this process was suspended, another may have taken the lock and changed the file: read it again.
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

/** Nodes without a timestamp are expired; those with a timestamp in the future are not. */
const isExpired = (seen: unknown, nowMs: number): boolean => typeof seen !== 'number' || nowMs - seen > maxAgeMs

const byId = (a: NodeRecord, b: NodeRecord): number => (a.id < b.id ? -1 : Number(a.id > b.id))
