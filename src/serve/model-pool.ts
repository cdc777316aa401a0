import {existsSync} from 'node:fs'
import {readdir, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {nearest, SvcError} from '../errors/index.js'
import {isFolder} from '../files/index.js'
import {type CounterName, describeModelFiles, type NamedModel, type ResidentAdapter} from '../llm/index.js'
import {logger} from '../log/index.js'
import {ggufParts} from '../weights/index.js'
import {AdapterCatalog, type CatalogOptions, type KnownAdapter} from './adapter-catalog.js'
import {AdapterModel, adapted} from './adapter-model.js'
import {MemoryRoom} from './memory-room.js'
import {engineOptions, type HostOptions, ModelHost, type ModelService} from './model-host.js'
import type {ServedModel} from './served-model.js'

export interface PoolOptions extends Omit<HostOptions, 'adapters'> {
  /** The model that is loaded when the server starts, and that requests without a name get. */
  first: {path: string; name: string | undefined} | undefined
  /** Whether there may be others. */
  servesOthers: boolean
  /** The other models, as they are now. */
  findModels: () => Promise<readonly NamedModel[]>
  /** Memory for loaded models, bytes. */
  memoryLimit: number
  /** The adapters of the first model. */
  adapters?: CatalogOptions | undefined
}

/** Maximum number of names in a message. */
const namedModels = 5

/** The served models, by name: the first one, and those that are found when a request needs them. */
export class ModelPool {
  readonly #options: PoolOptions
  readonly #room: MemoryRoom
  readonly #hosts = new Map<string, ModelHost>()
  #first: ModelHost | undefined
  #catalog: AdapterCatalog | undefined
  /** What is known of models, by path: of the files with a key. */
  readonly #known = new Map<string, {key: string; host: Promise<ModelHost>}>()

  private constructor(options: PoolOptions) {
    this.#options = options
    this.#room = new MemoryRoom(options.memoryLimit)
  }

  /** @throws what `startEngine` throws for the first model, and `AdapterCatalog` for its adapters */
  static async start(options: PoolOptions, signal: AbortSignal): Promise<ModelPool> {
    const pool = new ModelPool(options)
    const {first, adapters} = options
    if (first === undefined) return pool
    const catalog = adapters && (await AdapterCatalog.open(adapters))
    const ofHost = {...hostOptions(options), adapters: catalog && (() => catalog.engineOptions)}
    const host = await ModelHost.start(first.path, first.name, ofHost, pool.#room, signal)
    pool.#first = host
    pool.#catalog = catalog
    try {
      catalog?.attach(host.served)
    } catch (error) {
      await pool.close()
      throw error
    }
    return pool
  }

  /** The model that is loaded when the server starts. */
  get first(): ModelHost | undefined {
    return this.#first
  }

  /** The loaded models, and those that are being loaded. */
  get loaded(): ModelHost[] {
    return this.#all.filter(({loaded}) => loaded !== undefined)
  }

  /** Approximate memory of the loaded models. */
  get usedBytes(): number {
    return this.#room.usedBytes
  }

  /** All models, also those that are not loaded. One that cannot be described is left out, and logged. */
  async list(): Promise<ServedModel[]> {
    const first = this.#first?.served
    const served = first === undefined ? [] : [first, ...this.adapters.map((known) => adapted(first, known))]
    for (const model of await this.#findOthers()) {
      const host = await this.#host(model).catch((err) => {
        logger('serve').warn({err, model: model.name}, 'A model cannot be served.')
        return undefined
      })
      if (host !== undefined) served.push(host.served)
    }
    return served
  }

  /** The adapters of the first model. */
  get adapters(): readonly KnownAdapter[] {
    return this.#catalog?.all ?? []
  }

  /** The adapters in memory. */
  async residentAdapters(): Promise<readonly ResidentAdapter[]> {
    return (await this.#first?.residentAdapters()) ?? []
  }

  /** The adapters in memory that have a name, as models that use only the memory of the adapter. */
  async loadedAdapters(): Promise<ServedModel[]> {
    const first = this.#first?.served
    const resident = await this.residentAdapters()
    return this.adapters.flatMap((known) => {
      const found = resident.find(({key}) => key === known.source.key)
      return first === undefined || found === undefined ? [] : [adapted(first, known, found.bytes)]
    })
  }

  /** Adds or replaces an adapter. Running replies keep the one that they started with. @throws what the catalog throws */
  async addAdapter(name: string, path: string): Promise<{added: KnownAdapter; isNew: boolean}> {
    const {added, replaced} = await this.#requireCatalog().add(name, path)
    if (replaced !== undefined) await this.#forget(replaced)
    return {added, isNew: replaced === undefined}
  }

  /** Removes an adapter. Its running replies continue. @throws what the catalog throws */
  async removeAdapter(name: string): Promise<void> {
    await this.#forget(this.#requireCatalog().remove(name))
  }

  /**
   * The model with a name, with or without Ollama's `:latest`; without a name, the first or the only one.
   * @throws model_not_served, model_removed, bad_request, adapter_refused; what `readModelFiles` throws
   */
  async find(requested: string | undefined): Promise<ModelService> {
    const first = this.#first
    if (first !== undefined && requested !== undefined && requested !== first.name) {
      const known = await this.#findAdapter(requested.replace(/:latest$/, ''))
      if (known !== undefined) return new AdapterModel(first, known)
    }
    return this.#findHost(requested)
  }

  /** The adapter with a name. If its files have changed, the memory of the former ones is freed. */
  async #findAdapter(name: string): Promise<KnownAdapter | undefined> {
    const former = this.adapters.find(({source}) => source.name === name)
    const known = await this.#catalog?.find(name)
    if (former !== undefined && former.source.key !== known?.source.key) await this.#forget(former)
    return known
  }

  async #findHost(requested: string | undefined): Promise<ModelHost> {
    const first = this.#first
    if (requested === undefined) return first ?? this.#only()
    const names = [requested, requested.replace(/:latest$/, '')]
    if (first !== undefined && names.includes(first.name)) return first
    const others = await this.#findOthers()
    const model = others.find(({name}) => names.includes(name))
    if (model !== undefined) return this.#host(model)
    const former = names.map((name) => this.#hosts.get(name)).find((host) => host !== undefined)
    if (former !== undefined && !existsSync(former.path)) {
      void former.retire()
      throw new SvcError('model_removed', {model: requested, path: former.path})
    }
    const adapters = this.adapters.map(({source}) => source.name)
    const known = [...(first === undefined ? [] : [first.name]), ...adapters, ...others.map(({name}) => name)]
    throw new SvcError('model_not_served', {
      model: requested,
      served: listOf(known),
      suggestion: nearest(requested, known),
    })
  }

  /**
   * Unloads a model that will be deleted, unless it is running.
   * @returns whether a directory is in use all the same
   * @throws model_not_downloaded; what `find` throws
   */
  async giveUp(name: string): Promise<(folder: string) => boolean> {
    const host = await this.#findHost(name)
    const model = (await this.#findOthers()).find((each) => each.name === host.name)
    if (model?.isDownloaded === false) throw new SvcError('model_not_downloaded', {path: model.path})
    if (host !== this.#first && !host.isBusy) await host.retire()
    const used = [...(this.#first === undefined ? [] : [this.#first]), ...this.loaded]
    return (folder) => used.some(({served}) => served.folders.includes(folder))
  }

  /** Sum of the counters of all models; undefined if none was ever loaded. */
  async counters(): Promise<Partial<Record<CounterName, number>> | undefined> {
    const all = (await Promise.all(this.#all.map((host) => host.counters()))).filter((each) => each !== undefined)
    if (all.length === 0) return undefined
    const sum: Partial<Record<CounterName, number>> = {}
    for (const counters of all)
      for (const [name, value] of Object.entries(counters) as [CounterName, number][])
        sum[name] = (sum[name] ?? 0) + value
    return sum
  }

  /** Aborts all running requests and unloads all models. */
  async close(): Promise<void> {
    await Promise.all(this.#all.map((host) => host.close(new SvcError('terminated', {}))))
  }

  #requireCatalog(): AdapterCatalog {
    if (this.#catalog === undefined) throw new SvcError('adapters_read_only', {})
    return this.#catalog
  }

  /** Frees the memory of an adapter that has lost its name, unless another name has the same files. */
  async #forget({source: {key}}: KnownAdapter): Promise<void> {
    if (!this.adapters.some(({source}) => source.key === key)) await this.#first?.forgetAdapter(key)
  }

  get #all(): ModelHost[] {
    return [...(this.#first === undefined ? [] : [this.#first]), ...this.#hosts.values()]
  }

  async #only(): Promise<ModelHost> {
    const others = await this.#findOthers()
    const [only, ...more] = others
    if (only !== undefined && more.length === 0) return this.#host(only)
    const reason = `model is required; this server serves ${listOf(others.map(({name}) => name)) || 'no models'}`
    throw new SvcError('bad_request', {reason, param: 'model'})
  }

  async #findOthers(): Promise<readonly NamedModel[]> {
    const found = await this.#options.findModels()
    return found.filter(({name}) => name !== this.#first?.name)
  }

  /** The host of a model. If its files have changed, it is another model. */
  async #host(model: NamedModel): Promise<ModelHost> {
    const key = await keyOf(model.path)
    const known = this.#known.get(model.path)
    if (known?.key === key) return known.host
    const options = hostOptions(this.#options)
    const host = describeModelFiles(model.path, engineOptions(options)).then((description) => {
      void this.#hosts.get(model.name)?.retire()
      const created = new ModelHost(model, description, options, this.#room)
      this.#hosts.set(model.name, created)
      return created
    })
    this.#known.set(model.path, {key, host})
    host.catch(() => undefined)
    return host
  }
}

const hostOptions = ({
  first: _,
  servesOthers: __,
  findModels: ___,
  memoryLimit: ____,
  adapters: _____,
  ...options
}: PoolOptions): HostOptions => options

const listOf = (names: readonly string[]): string =>
  [...names.slice(0, namedModels), ...(names.length > namedModels ? ['…'] : [])].join(', ')

/** Changes with the names, the sizes and the times of the files in a directory, or of the parts of a GGUF model. */
async function keyOf(place: string): Promise<string> {
  const paths = (await isFolder(place))
    ? (await readdir(place)).sort().map((name) => join(place, name))
    : ggufParts(place)
  const files = await Promise.all(
    paths.map(async (path) => {
      const found = await stat(path).catch(() => undefined)
      return found?.isFile() ? [path, found.size, found.mtimeMs].join(' ') : path
    }),
  )
  return files.join('\n')
}
