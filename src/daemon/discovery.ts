import {mkdirSync, readFileSync, rmSync} from 'node:fs'
import {join} from 'node:path'
import {writeFileAtomicSync} from '../files/index.js'
import {isAlive, processStart} from '../process/index.js'
import {fileIdOf} from '../store/index.js'

export interface Discovery {
  pid: number
  /** Start time of the process as reported by the system; identifies the process together with the pid. */
  process_start: string
  /** Address such as `127.0.0.1:9745`; null if it does not listen. */
  addr: string | null
  protocol: string
  repository_id: string
  started_at_ms: number
  /** The directory of the file, which is another one in a copy of the workspace. */
  directory?: string
  /** Set while it waits for its tasks before it stops. */
  ending?: true
}

export interface Publication {
  /** Publishes that it is stopping and does not listen any more. */
  ending(): void
  remove(): void
}

export const discoveryPath = (root: string): string => join(root, '.svc', 'daemon.json')

/** Writes the discovery file of this process. A file of a newer daemon is never changed. */
export function publish(root: string, facts: Omit<Discovery, 'pid' | 'process_start' | 'directory'>): Publication {
  mkdirSync(join(root, '.svc'), {recursive: true, mode: 0o700})
  const directory = directoryOf(root)
  const own: Discovery = {pid: process.pid, process_start: processStart(process.pid) ?? '', ...facts, directory}
  const isOurs = () => {
    const found = readDiscovery(root)
    return found?.pid === own.pid && found.process_start === own.process_start
  }
  write(root, own)
  return {
    ending() {
      try {
        if (isOurs()) write(root, {...own, addr: null, ending: true})
      } catch {
        // A full disk must not prevent the daemon from stopping.
      }
    },
    remove() {
      if (isOurs()) rmSync(discoveryPath(root), {force: true})
    },
  }
}

/** Atomic, and readable only by the owner. */
const write = (root: string, facts: Discovery): void =>
  writeFileAtomicSync(discoveryPath(root), `${JSON.stringify(facts)}\n`, {mode: 0o600, folderMode: 0o700})

const directoryOf = (root: string): string => fileIdOf(join(root, '.svc'))

/** Reads the discovery file; undefined if it is missing or invalid. */
function readDiscovery(root: string): Discovery | undefined {
  try {
    const found = JSON.parse(readFileSync(discoveryPath(root), 'utf8')) as Partial<Discovery> | null
    return isDiscovery(found) ? found : undefined
  } catch {
    return undefined
  }
}

const isDiscovery = (found: Partial<Discovery> | null): found is Discovery =>
  typeof found?.pid === 'number' &&
  Number.isSafeInteger(found.pid) &&
  typeof found.process_start === 'string' &&
  (found.addr === null || typeof found.addr === 'string') &&
  typeof found.protocol === 'string' &&
  typeof found.repository_id === 'string' &&
  typeof found.started_at_ms === 'number'

/** Finds the running daemon of a workspace. Ignores the file of a killed daemon, and that of a workspace that was copied. */
export function findDaemon(root: string): Discovery | undefined {
  const found = readDiscovery(root)
  if (found === undefined || (found.directory ?? directoryOf(root)) !== directoryOf(root)) return undefined
  return isAlive(found.pid, found.process_start) ? found : undefined
}
