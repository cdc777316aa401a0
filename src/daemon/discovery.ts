import {readFileSync, rmSync} from 'node:fs'
import {join} from 'node:path'
import {writeFileAtomicSync} from '../files/index.js'
import {isAlive, processStart} from '../process/index.js'

/** What the daemon of a workspace says about itself, for those who look for it. */
export interface Discovery {
  pid: number
  /** When the process started, as its system tells it: with the pid it says which process is meant. */
  process_start: string
  /** `127.0.0.1:9745`; null where it answers nobody. */
  addr: string | null
  protocol: string
  repository_id: string
  started_at_ms: number
  /** It was asked to end, and lets its tasks end first. */
  ending?: true
}

/** What was said about this process. */
export interface Publication {
  /** Says that it ends, and answers nobody any more. */
  ending(): void
  /** Takes everything back. */
  remove(): void
}

export const discoveryPath = (root: string): string => join(root, '.svc', 'daemon.json')

/** Says where this process can be found. What another daemon has said since is left alone. */
export function publish(root: string, facts: Omit<Discovery, 'pid' | 'process_start'>): Publication {
  const own: Discovery = {pid: process.pid, process_start: processStart(process.pid) ?? '', ...facts}
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
        // A disk that is full keeps nobody from ending.
      }
    },
    remove() {
      if (isOurs()) rmSync(discoveryPath(root), {force: true})
    },
  }
}

/** At once and whole, readable by its owner alone. */
const write = (root: string, facts: Discovery): void =>
  writeFileAtomicSync(discoveryPath(root), `${JSON.stringify(facts)}\n`, {mode: 0o600, folderMode: 0o700})

/** What the file says; undefined where there is none, or it was not written by a daemon. */
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

/** The daemon of a workspace, as long as its process is there: a file that a killed one has left says nothing. */
export function findDaemon(root: string): Discovery | undefined {
  const found = readDiscovery(root)
  return found !== undefined && isAlive(found.pid, found.process_start) ? found : undefined
}
