import {SvcError} from '../errors/index.js'
import {type Adapter, derivedKey, openAdapter, type RunDirectory} from '../weights/index.js'
import type {AdapterPool} from './adapters/adapter-pool.js'
import {
  type AdapterLease,
  type AdapterSource,
  type ResidencyOptions,
  ResidentAdapters,
} from './adapters/resident-adapters.js'
import type {LoadOptions} from './load-options.js'

/** The adapters of a model: that of its run directory, and those that requests name. */
export class ModelAdapters {
  readonly #resident: ResidentAdapters
  /** That of the run directory. */
  readonly #own: AdapterSource | undefined

  private constructor(resident: ResidentAdapters, own: AdapterSource | undefined) {
    this.#resident = resident
    this.#own = own
  }

  /**
   * Loads the adapters that stay in memory.
   * @throws adapter_too_large, adapter_changed; what `openAdapter` and `AdapterPool.load` throw
   */
  static async open(
    pool: AdapterPool,
    {path, name, adapter}: RunDirectory,
    {adapters, ignoreConfigKeys}: LoadOptions,
    onChange: ResidencyOptions['onChange'],
  ): Promise<ModelAdapters> {
    const own = adapter && {name, folder: path, key: await derivedKey([adapter.file], 'adapter'), isPinned: true}
    const open = async (source: AdapterSource): Promise<Adapter> => {
      if (source === own && adapter !== undefined) return adapter
      const found = await openAdapter(source.folder, ignoreConfigKeys)
      if (found.key !== source.key) throw new SvcError('adapter_changed', {adapter: source.name, path: source.folder})
      return found
    }
    // That of the run directory does not count, because the model cannot be used without it.
    const maxBytes = (adapters?.maxBytes ?? 0) + (adapter === undefined ? 0 : pool.bytesOf(adapter))
    const resident = new ResidentAdapters(pool, {maxBytes, open, onChange})
    for (const source of [...(own === undefined ? [] : [own]), ...(adapters?.pinned ?? [])]) {
      const lease = resident.acquire(source)
      await lease.ready
      lease.release()
    }
    return new ModelAdapters(resident, own)
  }

  /** The adapter of a request, while it runs. */
  acquire(requested: AdapterSource | false | undefined): AdapterLease | undefined {
    const source = requested ?? this.#own
    return source === undefined || source === false ? undefined : this.#resident.acquire(source)
  }

  forget(key: string): void {
    this.#resident.forget(key)
  }
}
