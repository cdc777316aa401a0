import {createHash} from 'node:crypto'
import {closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync} from 'node:fs'
import {join} from 'node:path'
import {logger} from '../../log/index.js'
import type {KeptOutput, OutputSource} from '../../process/index.js'
import type {Store} from '../../store/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {ActivityKey, OutputPaths} from './activities.js'

/** The folder of a store, which has a folder for each run with long outputs. */
const folderOf = (store: Pick<Store, 'path'>): string => `${store.path}.output`

/** The name of a file or folder: ids can have any characters. */
const nameOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 32)

/**
 * The output of a program in files that only the owner can read, one for each stream. They are written as soon as the
 * output is longer than what is kept of it. A later attempt of the activity replaces them.
 */
export class OutputFiles {
  readonly #base: string | undefined
  readonly #folder: string
  readonly #limit: number
  readonly #files = new Map<OutputSource, number>()
  #bytes = 0
  #isCut = false
  #hasBegun = false
  #fault: unknown

  constructor({store, isKept, config}: WorkspaceContext, {runId, activityId}: ActivityKey) {
    this.#folder = join(folderOf(store), nameOf(runId))
    this.#limit = config.workflowOutputMaxBytes
    this.#base = isKept && this.#limit > 0 ? join(this.#folder, nameOf(activityId)) : undefined
  }

  /** Adds a piece that follows what is kept. @param keptBytes maximum number of bytes that are kept */
  add(source: OutputSource, text: string, kept: KeptOutput, keptBytes: number): void {
    const bytes = Buffer.from(text)
    if (!this.#hasBegun && kept.total + bytes.length > keptBytes) this.#begin(kept)
    if (this.#hasBegun) this.#write(source, bytes)
  }

  /** Closes the files. @param kept the whole output, if it is not in the files yet */
  end(kept: KeptOutput): OutputPaths | undefined {
    if (!this.#hasBegun) this.#begin(kept)
    const sources = [...this.#files.keys()]
    this.close()
    if (this.#fault !== undefined || sources.length === 0) return undefined
    const paths = Object.fromEntries(sources.map((source) => [source, this.#pathOf(source)]))
    return {...paths, ...(this.#isCut ? {truncated: true} : {})}
  }

  close(): void {
    for (const file of this.#files.values()) closeSync(file)
    this.#files.clear()
  }

  #pathOf = (source: OutputSource): string => `${this.#base}.${source}`

  #begin(kept: KeptOutput): void {
    this.#hasBegun = true
    for (const source of ['stdout', 'stderr'] as const) this.#write(source, Buffer.from(kept.text(source)))
  }

  /** A full disk does not make the program fail: the result then names no files. */
  #write(source: OutputSource, bytes: Buffer): void {
    if (this.#base === undefined || this.#fault !== undefined || bytes.length === 0) return
    try {
      const room = this.#limit - this.#bytes
      this.#isCut ||= bytes.length > room
      const file = this.#files.get(source) ?? this.#open(source)
      for (let at = 0, end = Math.min(room, bytes.length); at < end; ) {
        const written = writeSync(file, bytes, at, end - at)
        at += written
        this.#bytes += written
      }
    } catch (error) {
      this.#fault = error
      logger('svc.workflow').warn({err: error}, 'cannot write the output of a program to a file')
      for (const written of this.#files.keys()) rmSync(this.#pathOf(written), {force: true})
    }
  }

  #open(source: OutputSource): number {
    mkdirSync(this.#folder, {recursive: true, mode: 0o700})
    const file = openSync(this.#pathOf(source), 'w', 0o600)
    this.#files.set(source, file)
    return file
  }
}

/** Deletes the files of runs that are not in the store any more. */
export function removeOrphanedOutput(store: Pick<Store, 'path' | 'all'>): void {
  const folder = folderOf(store)
  const found = foldersIn(folder)
  if (found.length === 0) return
  const runs = store.all<{run_id: string}>('SELECT run_id FROM workflow_run_log')
  const known = new Set(runs.map(({run_id}) => nameOf(run_id)))
  for (const name of found)
    try {
      if (!known.has(name)) rmSync(join(folder, name), {recursive: true, force: true})
    } catch (error) {
      // Such as the folder of another user. A later deletion tries again.
      logger('svc.workflow').warn({err: error}, 'cannot delete the output of a deleted run')
    }
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // No program has had a long output.
    return []
  }
}
