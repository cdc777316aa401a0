import {SvcError} from '../../errors/index.js'
import type {Adapter} from '../../weights/index.js'
import type {AdapterPool, PooledAdapter} from './adapter-pool.js'

/** An adapter as requests name it. */
export interface AdapterSource {
  /** Name for messages. */
  name: string
  /** Its directory. */
  folder: string
  /** Key of its files. The adapter of another key is another one, even with the same name. */
  key: string
  /** Whether it stays in memory. */
  isPinned: boolean
}

/** An adapter in memory. */
export interface ResidentAdapter extends Pick<AdapterSource, 'name' | 'key' | 'isPinned'> {
  bytes: number
}

/** The use of an adapter by one request, during which it stays in memory. */
export interface AdapterLease {
  readonly key: string
  /** Undefined until it is ready. */
  readonly adapter: PooledAdapter | undefined
  /** Resolves when the adapter is in memory. */
  readonly ready: Promise<void>
  /** Whether it is being read, so that this needs time of the thread. */
  readonly isLoading: boolean
  release(): void
}

interface Entry {
  source: AdapterSource
  users: number
  adapter: PooledAdapter | undefined
  loaded: Promise<void>
  isLoading: boolean
  /** Whether it leaves the memory with its last user. */
  isForgotten: boolean
}

export interface ResidencyOptions {
  /** Memory for adapters, bytes. */
  maxBytes: number
  /** Reads the headers of an adapter. */
  open(source: AdapterSource): Promise<Adapter>
  /** Called when adapters have come or gone. */
  onChange?: ((resident: readonly ResidentAdapter[]) => void) | undefined
}

/**
 * The adapters in memory. The least recently used ones that no request uses make room for others. An adapter for which
 * there is no room waits until running requests end; others that are in memory are used meanwhile.
 */
export class ResidentAdapters {
  readonly #pool: AdapterPool
  readonly #options: ResidencyOptions
  /** By key, least recently used first. */
  readonly #entries = new Map<string, Entry>()
  #last: Promise<unknown> = Promise.resolve()
  #onRelease: () => void = () => undefined

  constructor(pool: AdapterPool, options: ResidencyOptions) {
    this.#pool = pool
    this.#options = options
  }

  get list(): ResidentAdapter[] {
    return [...this.#entries.values()].flatMap(({source: {name, key, isPinned}, adapter}) =>
      adapter === undefined ? [] : [{name, key, isPinned, bytes: adapter.bytes}],
    )
  }

  /** Loads an adapter if necessary, one after the other. `ready` rejects with what `open` and the pool throw. */
  acquire(source: AdapterSource): AdapterLease {
    const entry = this.#entries.get(source.key) ?? this.#enter(source)
    this.#entries.delete(source.key)
    this.#entries.set(source.key, entry)
    entry.users++
    let isReleased = false
    return {
      key: source.key,
      get adapter() {
        return entry.adapter
      },
      get isLoading() {
        return entry.isLoading
      },
      ready: entry.loaded,
      release: () => {
        if (isReleased) return
        isReleased = true
        entry.users--
        if (entry.users === 0 && entry.isForgotten) this.#drop(entry)
        this.#onRelease()
      },
    }
  }

  /** Frees the memory of an adapter when no request uses it any more. */
  forget(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    entry.isForgotten = true
    if (entry.users === 0 && entry.adapter !== undefined) this.#drop(entry)
  }

  #enter(source: AdapterSource): Entry {
    const entry: Entry = {
      source,
      users: 0,
      adapter: undefined,
      loaded: Promise.resolve(),
      isLoading: false,
      isForgotten: false,
    }
    entry.loaded = this.#last
      .then(() => this.#load(entry))
      .finally(() => {
        entry.isLoading = false
      })
    this.#last = entry.loaded.catch(() => {
      if (this.#entries.get(source.key) === entry) this.#entries.delete(source.key)
    })
    return entry
  }

  async #load(entry: Entry): Promise<void> {
    const {name} = entry.source
    entry.isLoading = true
    const adapter = await this.#options.open(entry.source)
    const bytes = this.#pool.bytesOf(adapter)
    const {maxBytes} = this.#options
    const pinned = this.list.filter(({isPinned}) => isPinned).reduce((sum, each) => sum + each.bytes, 0)
    if (pinned + bytes > maxBytes)
      throw new SvcError('adapter_too_large', {adapter: name, bytes, pinned, limit: maxBytes})
    while (this.#usedBytes + bytes > maxBytes) {
      const idle = [...this.#entries.values()].find(
        (each) => each.users === 0 && each.adapter !== undefined && !each.source.isPinned,
      )
      if (idle !== undefined) this.#drop(idle)
      else {
        entry.isLoading = false
        await new Promise<void>((resolve) => {
          this.#onRelease = resolve
        })
      }
    }
    entry.isLoading = true
    entry.adapter = await this.#pool.load(adapter)
    if (entry.users === 0 && entry.isForgotten) this.#drop(entry)
    this.#changed()
  }

  get #usedBytes(): number {
    return this.list.reduce((sum, {bytes}) => sum + bytes, 0)
  }

  #drop(entry: Entry): void {
    if (this.#entries.get(entry.source.key) === entry) this.#entries.delete(entry.source.key)
    if (entry.adapter !== undefined) this.#pool.release(entry.adapter)
    entry.adapter = undefined
    this.#changed()
  }

  #changed(): void {
    this.#options.onChange?.(this.list)
  }
}
