import {type FSWatcher, watch} from 'node:fs'
import {basename, dirname} from 'node:path'

type Listener = (writer: object) => void

/** Listeners of this process, by the path of the database file. */
const listeners = new Map<string, Set<Listener>>()

/** Reports a commit of this process. `writer` is the store that committed it. */
export function emitCommit(path: string, writer: object): void {
  for (const listener of listeners.get(path) ?? []) listener(writer)
}

/**
 * Calls back soon after a write to the file of a store, by this process or another one. The callback can be called
 * before the commit is visible, and also without a change. It is not called for all changes: network file systems
 * report none, so the caller must also poll. A failing watch is not an error.
 *
 * The folder is watched, not the files: SQLite deletes and creates the write-ahead log, and a database can be replaced.
 *
 * @param onChange called with true after a commit by this store itself
 * @returns ends the watch
 */
export function watchStore(store: {readonly path: string}, onChange: (isOwn: boolean) => void): () => void {
  const {path} = store
  const listener: Listener = (writer) => onChange(writer === store)
  const known = listeners.get(path) ?? new Set()
  listeners.set(path, known.add(listener))
  const watcher = watchFiles(path, () => onChange(false))
  return () => {
    watcher?.close()
    known.delete(listener)
    if (known.size === 0 && listeners.get(path) === known) listeners.delete(path)
  }
}

/** Watches the database file and its write-ahead log; undefined where the system cannot. */
function watchFiles(path: string, onChange: () => void): FSWatcher | undefined {
  const files = new Set([basename(path), `${basename(path)}-wal`])
  try {
    const watcher = watch(dirname(path), {persistent: false}, (_, file) => {
      if (file === null || files.has(file)) onChange()
    })
    // For example, the folder was removed, or the system has no watches left.
    return watcher.on('error', () => watcher.close())
  } catch {
    return undefined
  }
}
