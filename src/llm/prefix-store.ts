import {createHash} from 'node:crypto'
import {chmod, mkdir, readdir, readFile, rm, stat, utimes} from 'node:fs/promises'
import {join} from 'node:path'
import {writeFileAtomic} from '../files/index.js'
import {logger} from '../log/index.js'
import type {EngineCounters} from './counters.js'
import type {CacheLayer} from './kv-cache.js'
import {commonLength, type SavedPrefix} from './prefix-cache.js'
import {stateSize} from './recurrent/block.js'
import {lastWithin} from './recurrent/state-cache.js'
import {type CacheShape, cacheBytes, type SequenceState} from './sequence-cache.js'

export interface PrefixStoreOptions {
  folder: string
  /** Maximum size of all files in the folder, bytes. */
  maxBytes: number
  /** Key of everything that the keys and values depend on, besides the tokens. */
  model: string
  shape: CacheShape
  counters: EngineCounters
}

/** Number of tokens by which a beginning must exceed the stored ones: fewer are computed in a fraction of a second. */
const minimumGain = 128
/** Maximum number of files that wait to be written. Their keys and values stay in memory. */
const queueLimit = 2
const format = 'svc prefix 2'
const extension = '.prefix'
const checksumBytes = 32
/** Age at which the incomplete file of another process is considered abandoned, ms. */
const abandonedAfter = 3_600_000

interface Stored extends Pick<SavedPrefix, 'tokens' | 'adapter'> {
  name: string
}

interface Header {
  format: string
  model: string
  adapter: string
  tokens: readonly number[]
}

/**
 * Beginnings of prompts in files, so that they are known after a restart. A beginning is written when two different
 * requests share it, such as the instructions of an agent. The next turn of a conversation repeats all of an earlier
 * sequence, so it writes nothing.
 *
 * A file has the length of its header, the header in JSON, the keys and values of each layer, and the states after all
 * positions. A SHA-256 checksum of all of these follows. Files that cannot be read or written never fail a request; they are
 * logged, and unusable ones are removed.
 */
export class PrefixStore {
  readonly #options: PrefixStoreOptions
  readonly #stored = new Set<Stored>()
  #writing: Promise<void> = Promise.resolve()
  #waiting = 0
  #failed = false

  constructor(options: PrefixStoreOptions) {
    this.#options = options
  }

  /** Reads the files of this model, the least recently used first; at most a number of bytes of the most recent ones. */
  async load(maxBytes: number): Promise<SavedPrefix[]> {
    const {folder, model} = this.#options
    const loaded: SavedPrefix[] = []
    try {
      await mkdir(folder, {recursive: true, mode: 0o700})
      await chmod(folder, 0o700)
      let bytes = 0
      for (const {name, size} of (await this.#files()).reverse()) {
        if (!name.startsWith(model) || bytes + size > maxBytes) continue
        const prefix = await this.#read(name)
        if (prefix === undefined) continue
        this.#stored.add({name, tokens: prefix.tokens, adapter: prefix.adapter})
        loaded.unshift(prefix)
        bytes += size
      }
    } catch (error) {
      this.#fail(error)
    }
    return loaded
  }

  /** Records that a request begins with the first tokens of a saved sequence, and writes them if that is worth it. */
  offer({tokens, adapter, state}: SavedPrefix, length: number): void {
    let known: {stored: Stored; length: number} | undefined
    for (const stored of this.#stored) {
      if (stored.adapter !== adapter) continue
      const common = commonLength(stored.tokens, tokens, length)
      if (common > (known?.length ?? 0)) known = {stored, length: common}
    }
    if (length - (known?.length ?? 0) < minimumGain) {
      if (known !== undefined) this.#writing = this.#writing.then(() => this.#touch(known.stored))
      return
    }
    if (length === tokens.length || this.#waiting >= queueLimit || this.#failed) return
    const beginning = tokens.slice(0, length)
    const hash = createHash('sha256')
      .update(`${adapter} ${beginning.join(' ')}`)
      .digest('hex')
      .slice(0, 32)
    const stored = {name: `${this.#options.model}-${hash}${extension}`, tokens: beginning, adapter}
    this.#stored.add(stored)
    this.#waiting++
    this.#writing = this.#writing.then(async () => {
      await this.#write(stored, state).catch((error) => {
        this.#stored.delete(stored)
        this.#fail(error)
      })
      this.#waiting--
    })
  }

  /** Resolves when all files are written. */
  async close(): Promise<void> {
    await this.#writing
  }

  async #write(stored: Stored, state: SequenceState): Promise<void> {
    const {folder, maxBytes, counters} = this.#options
    const {name, tokens, adapter} = stored
    if (cacheBytes(this.#options.shape, tokens.length) > maxBytes) return
    await writeFileAtomic(join(folder, name), this.#content(stored, state), {mode: 0o600, folderMode: 0o700})
    counters.add('prefixFilesWritten', 1)
    for (const other of this.#stored)
      if (
        other !== stored &&
        other.adapter === adapter &&
        commonLength(other.tokens, tokens, other.tokens.length) === other.tokens.length
      )
        await this.#remove(other.name)
    const files = await this.#files()
    let bytes = files.reduce((sum, {size}) => sum + size, 0)
    for (const file of files) {
      if (bytes <= maxBytes) break
      await this.#remove(file.name)
      bytes -= file.size
    }
  }

  /** One piece per head, so that the thread is never busy for long. */
  async *#content({tokens, adapter}: Stored, state: SequenceState): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256')
    const {model} = this.#options
    const header = Buffer.from(JSON.stringify({format, model, adapter, tokens} satisfies Header))
    // Spaces align the numbers that follow.
    const padded = Buffer.alloc(Math.ceil(header.length / 4) * 4, ' ')
    header.copy(padded)
    const length = Buffer.alloc(4)
    length.writeUInt32LE(padded.length)
    for (const piece of [length, padded]) {
      hash.update(piece)
      yield piece
    }
    for (const floats of this.#floats(state, tokens.length)) {
      const piece = new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength)
      hash.update(piece)
      yield piece
    }
    yield hash.digest()
  }

  /** The keys and values of the first positions, and the states after them. */
  *#floats({layers, length: saved, checkpoints = []}: SequenceState, length: number): Generator<Float32Array> {
    for (const [i, {kvHeads, headDim}] of this.#options.shape.layers.entries())
      for (const slab of [layers[i]?.key, layers[i]?.value] as Float32Array[])
        for (let head = 0; head < kvHeads; head++) {
          const from = head * saved * headDim
          yield slab.subarray(from, from + length * headDim)
        }
    yield* lastWithin(checkpoints, length)?.states ?? []
  }

  /** Reads a file; removes it if it is unusable. */
  async #read(name: string): Promise<SavedPrefix | undefined> {
    const {counters, folder} = this.#options
    const bytes = await readFile(join(folder, name)).catch((error) => this.#ignore(name, error.message))
    if (bytes === undefined) return undefined
    try {
      const prefix = this.#parse(bytes)
      counters.add('prefixFilesRead', 1)
      return prefix
    } catch (error) {
      this.#ignore(name, (error as Error).message)
      await this.#remove(name)
      return undefined
    }
  }

  /** @throws an error that says what is wrong */
  #parse(file: Buffer): SavedPrefix {
    const {model, shape} = this.#options
    const end = file.length - checksumBytes
    const isWhole = end > 4 && createHash('sha256').update(file.subarray(0, end)).digest().equals(file.subarray(end))
    if (!isWhole) throw new Error('it is damaged')
    // A copy, because views of floats must be aligned.
    const {buffer} = new Uint8Array(file)
    const start = 4 + file.readUInt32LE(0)
    const header: Header = JSON.parse(file.toString('utf8', 4, start))
    const {tokens, adapter} = header
    const {length} = tokens
    const bytes = cacheBytes(shape, length)
    if (header.format !== format || header.model !== model || start + bytes !== end)
      throw new Error('it belongs to another version or model')
    let at = start
    const next = (count: number) => {
      const floats = new Float32Array(buffer, at, count)
      at += floats.byteLength
      return floats
    }
    const rows = ({kvHeads, headDim}: CacheLayer) => next(kvHeads * length * headDim)
    const layers = shape.layers.map((each) => ({key: rows(each), value: rows(each)}))
    const states = shape.states.map((each) => next(stateSize(each)))
    const checkpoints = states.length === 0 ? {} : {checkpoints: [{length, states}]}
    return {tokens, adapter, state: {length, bytes, layers, ...checkpoints}}
  }

  /** The files of all models, the least recently used first. Removes abandoned incomplete ones. */
  async #files(): Promise<{name: string; size: number; used: number}[]> {
    const {folder} = this.#options
    const found = await Promise.all(
      (await readdir(folder)).map(async (name) => {
        const {size, mtimeMs} = await stat(join(folder, name)).catch(() => ({size: 0, mtimeMs: 0}))
        return {name, size, used: mtimeMs}
      }),
    )
    for (const {name, used} of found)
      if (name.endsWith('.new') && used < Date.now() - abandonedAfter) await this.#remove(name)
    return found.filter(({name}) => name.endsWith(extension)).sort((a, b) => a.used - b.used)
  }

  async #remove(name: string): Promise<void> {
    for (const stored of this.#stored) if (stored.name === name) this.#stored.delete(stored)
    await rm(join(this.#options.folder, name), {force: true}).catch(() => undefined)
  }

  /** Marks a file as used. If another process has removed it, it may be written again. */
  async #touch(stored: Stored): Promise<void> {
    const now = new Date()
    await utimes(join(this.#options.folder, stored.name), now, now).catch(() => this.#stored.delete(stored))
  }

  #ignore(file: string, reason: string): undefined {
    this.#options.counters.add('prefixFilesIgnored', 1)
    logger('llm').warn({file, reason}, 'ignoring a file with the beginning of a prompt')
  }

  /** Writes no more files: the next ones would probably fail too. */
  #fail(error: unknown): void {
    if (this.#failed) return
    this.#failed = true
    const {folder} = this.#options
    logger('llm').warn({folder, reason: (error as Error).message}, 'beginnings of prompts are not written to files')
  }
}
