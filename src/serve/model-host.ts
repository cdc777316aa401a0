import {isErrorOf, SvcError} from '../errors/index.js'
import {
  type AdapterOptions,
  type CounterName,
  type Engine,
  type EngineOptions,
  type ModelDescription,
  ModelIdentity,
  maxPromptBytes,
  type ResidentAdapter,
  startEngine,
} from '../llm/index.js'
import {logger} from '../log/index.js'
import {orAborted, startTimer, type Timer} from '../process/index.js'
import {derivedFolder, FileDigests, holdModel, type ModelDefaults, mergeDefaults} from '../weights/index.js'
import type {KnownAdapter} from './adapter-catalog.js'
import {Admission} from './admission.js'
import {type RequestDefaults, requestDefaults} from './defaults.js'
import type {KeepAlive} from './keep-alive.js'
import type {MemoryRoom, Resident} from './memory-room.js'
import type {ServedModel} from './served-model.js'

export interface HostOptions extends Omit<EngineOptions, 'signal' | 'adapters'> {
  /** The adapters of the model, as they are when it is loaded. */
  adapters?: (() => AdapterOptions) | undefined
  /** How long an idle model stays loaded, ms. */
  keepAlive: KeepAlive
  /** What the user has chosen; it precedes the defaults of the models. */
  defaults: ModelDefaults
  /** Maximum tokens and temperature of replies that neither the user, the model nor the request chooses. */
  fallback: {maxTokens: number; temperature: number}
}

/** A model that answers requests. */
export interface ModelService {
  readonly name: string
  readonly served: ServedModel
  /** Defaults for omitted fields of a request. */
  readonly requestDefaults: RequestDefaults
  /** Loads the model if necessary; returns the time it took, ms. */
  load(keepAlive: KeepAlive | undefined, signal?: AbortSignal): Promise<number>
  /**
   * Admits the requests of a client to the loaded model, which stays in memory until they are released. Loads the model if
   * necessary; afterwards it stays loaded for `keepAlive`.
   */
  admit(signal: AbortSignal, keepAlive?: KeepAlive): Promise<Admission>
  /** Frees its memory when no request uses it. */
  unload(): Promise<void>
}

/** A model of the server, and where it is. */
export interface HostedModel {
  name: string
  path: string
}

/**
 * One of the served models. It is loaded when it is requested, and unloaded after it has been idle for the `keepAlive` of
 * the last request, or when another model needs its memory.
 */
export class ModelHost implements Resident, ModelService {
  readonly path: string
  #served: ServedModel
  readonly #options: HostOptions
  readonly #room: MemoryRoom
  #engine: Promise<Engine> | undefined
  /** That of each engine. Receipts wait for it, but the load does not. */
  readonly #identities = new WeakMap<Engine, Promise<ModelIdentity>>()
  /** Whether it is loaded, not only being loaded. */
  #isReady = false
  /** Resolves when the last engine has freed its memory. */
  #closed: Promise<void> = Promise.resolve()
  #active = 0
  /** Resolves when the model has been unloaded for another one. */
  #retiring: Promise<void> | undefined
  #onIdle: (() => void) | undefined
  #keepAlive: KeepAlive
  #timer: Timer | undefined
  #expiresAt: Date | 'forever' = 'forever'
  #lastUsed = performance.now()
  readonly #totals = new Map<CounterName, number>()
  readonly #closing = new AbortController()
  /** Ends the use of the files of a model that stays in use, which other processes see. */
  #releaseFiles: () => void = () => undefined

  constructor({name, path}: HostedModel, description: ModelDescription, options: HostOptions, room: MemoryRoom) {
    this.path = path
    this.#options = options
    this.#room = room
    this.#keepAlive = options.keepAlive
    this.#served = toServed(name, description, options)
  }

  /**
   * Loads a model that stays in use, also while it is unloaded.
   * @param name for clients; default: the name of the directory
   * @throws what `startEngine` throws
   */
  static async start(
    path: string,
    name: string | undefined,
    options: HostOptions,
    room: MemoryRoom,
    signal: AbortSignal,
  ): Promise<ModelHost> {
    const release = await holdModel(path, options)
    const engine = await startEngine(path, {...engineOptions(options), signal}).catch((error: unknown) => {
      release()
      throw error
    })
    const {description} = engine
    const host = new ModelHost({name: name ?? (description.name || 'svc-local'), path}, description, options, room)
    host.#releaseFiles = release
    host.#engine = Promise.resolve(engine)
    host.#identify(engine)
    host.#isReady = true
    try {
      room.add(host)
    } catch (error) {
      await engine.close()
      release()
      throw error
    }
    host.#arm()
    return host
  }

  get served(): ServedModel {
    return this.#served
  }

  /** Maximum length of a prompt, bytes. */
  get maxPromptBytes(): number {
    return maxPromptBytes(this.#served.longestToken, this.#served.contextLength)
  }

  get requestDefaults(): RequestDefaults {
    return requestDefaults(this.#served, this.#options.fallback)
  }

  get name(): string {
    return this.#served.name
  }

  get memoryBytes(): number {
    return this.#served.memoryBytes
  }

  get isBusy(): boolean {
    return this.#active > 0
  }

  get lastUsed(): number {
    return this.#lastUsed
  }

  /** Whether the model is in memory, and until when. */
  get loaded(): {expiresAt: Date | 'forever'} | undefined {
    return this.#engine === undefined ? undefined : {expiresAt: this.#expiresAt}
  }

  /** Totals of all times that the model was loaded; undefined if it never was. */
  async counters(): Promise<Partial<Record<CounterName, number>> | undefined> {
    const current = this.#isReady ? (await this.#engine)?.counters() : undefined
    return sum(current, this.#totals)
  }

  /** The adapters in memory. */
  async residentAdapters(): Promise<readonly ResidentAdapter[]> {
    return (this.#isReady ? (await this.#engine)?.adapters() : undefined) ?? []
  }

  /** Frees the memory of the adapter with a key when no request uses it any more. */
  async forgetAdapter(key: string): Promise<void> {
    if (this.#isReady) await (await this.#engine)?.forgetAdapter(key)
  }

  async load(keepAlive: KeepAlive | undefined, signal?: AbortSignal): Promise<number> {
    const started = performance.now()
    await this.#use(keepAlive, signal, () => this.#open(signal))
    return performance.now() - started
  }

  /** @param adapter in place of that of the model */
  async admit(signal: AbortSignal, keepAlive?: KeepAlive, adapter?: KnownAdapter): Promise<Admission> {
    const started = performance.now()
    await this.#begin(keepAlive, signal)
    try {
      const engine = await this.#open(signal)
      const loadMs = performance.now() - started
      const own = await orAborted(this.#identities.get(engine) ?? this.#identify(engine), signal)
      return new Admission({
        engine,
        identity: adapter === undefined ? own : await own.withAdapter(adapter.directory, async () => adapter.digest),
        adapter: adapter?.source,
        loadMs,
        defaults: this.#served.defaults,
        closing: this.#closing.signal,
        onRelease: () => this.#end(),
      })
    } catch (error) {
      this.#end()
      throw error
    }
  }

  /** Unloads the model: immediately if it is idle, else when the last running request ends. */
  async unload(): Promise<void> {
    this.#keepAlive = 0
    if (!this.isBusy) await this.#closeEngine()
  }

  /** Unloads the model when the running requests have ended. Later ones wait, and load it again. */
  retire(): Promise<void> {
    this.#retiring ??= this.#retire().finally(() => {
      this.#retiring = undefined
    })
    return this.#retiring
  }

  /** Aborts all running requests and unloads the model. */
  async close(reason: Error): Promise<void> {
    this.#closing.abort(reason)
    await this.#closeEngine()
    this.#releaseFiles()
  }

  async #retire(): Promise<void> {
    if (this.isBusy)
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    await this.#closeEngine()
  }

  async #use<T>(keepAlive: KeepAlive | undefined, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    await this.#begin(keepAlive, signal)
    try {
      return await work()
    } finally {
      this.#end()
    }
  }

  async #begin(keepAlive: KeepAlive | undefined, signal: AbortSignal | undefined): Promise<void> {
    while (this.#retiring !== undefined) await orAborted(this.#retiring, signal)
    this.#active++
    this.#timer?.stop()
    this.#keepAlive = keepAlive ?? this.#options.keepAlive
  }

  #end(): void {
    this.#active--
    this.#lastUsed = performance.now()
    if (!this.isBusy) this.#onIdle?.()
    this.#arm()
  }

  /** Resolves when the memory is free. */
  #closeEngine(): Promise<void> {
    this.#timer?.stop()
    const engine = this.#engine
    this.#engine = undefined
    this.#isReady = false
    if (engine !== undefined)
      this.#closed = this.#closed
        .then(() => this.#release(engine))
        .catch((err) => logger('serve').error({err}, 'Failed to unload the model.'))
    return this.#closed
  }

  async #release(engine: Promise<Engine>): Promise<void> {
    const open = await engine.catch(() => undefined)
    if (open === undefined) return
    for (const [name, value] of Object.entries(open.counters()) as [CounterName, number][])
      if (!gauges.has(name)) this.#totals.set(name, (this.#totals.get(name) ?? 0) + value)
    await open.close().finally(() => this.#room.delete(this))
  }

  /** Requests that arrive while the model is loaded share its load, and its failure. */
  #open(signal: AbortSignal | undefined): Promise<Engine> {
    if (this.#engine === undefined) {
      const engine = this.#load()
      engine.catch(() => {
        if (this.#engine === engine) this.#engine = undefined
      })
      this.#engine = engine
    }
    return orAborted(this.#engine, signal)
  }

  async #load(): Promise<Engine> {
    this.#isReady = false
    await this.#closed
    await this.#room.admit(this, this.#closing.signal)
    try {
      const engine = await startEngine(this.path, {...engineOptions(this.#options), signal: this.#closing.signal})
      this.#served = toServed(this.name, engine.description, this.#options)
      this.#identify(engine)
      this.#isReady = true
      return engine
    } catch (error) {
      this.#room.delete(this)
      if (!isErrorOf(error, 'model_not_found')) throw error
      throw new SvcError('model_removed', {model: this.name, path: this.path})
    }
  }

  /** Starts to compute the digests of the files, which are those of the loaded model. */
  #identify(engine: Engine): Promise<ModelIdentity> {
    const {sources} = engine.description
    const digests = new FileDigests(derivedFolder(process.env))
    const identity = ModelIdentity.of(sources, this.#served.defaults, digests)
    // The first request gets the error.
    identity.catch(() => this.#identities.delete(engine))
    this.#identities.set(engine, identity)
    return identity
  }

  /** Starts the idle timer. */
  #arm(): void {
    this.#timer?.stop()
    const keepAlive = this.#keepAlive
    this.#expiresAt = keepAlive === 'forever' ? 'forever' : new Date(Date.now() + keepAlive)
    if (keepAlive === 'forever' || this.isBusy) return
    const unloadIfIdle = () => {
      if (!this.isBusy) void this.unload()
    }
    this.#timer = startTimer(unloadIfIdle, keepAlive, {isWaitedFor: false})
  }
}

/** Counters of the present, which are not totals. */
const gauges: ReadonlySet<CounterName> = new Set<CounterName>(['running', 'waiting'])

function sum(
  current: Readonly<Partial<Record<CounterName, number>>> | undefined,
  totals: ReadonlyMap<CounterName, number>,
): Partial<Record<CounterName, number>> | undefined {
  if (current === undefined && totals.size === 0) return undefined
  const all: Partial<Record<CounterName, number>> = {...current}
  for (const [name, value] of totals) all[name] = (all[name] ?? 0) + value
  return all
}

export const engineOptions = ({
  keepAlive: _,
  defaults: __,
  fallback: ___,
  adapters,
  ...options
}: HostOptions): EngineOptions => ({...options, ...(adapters === undefined ? {} : {adapters: adapters()})})

const toServed = (name: string, description: ModelDescription, {defaults}: HostOptions): ServedModel => ({
  ...description,
  name,
  defaults: mergeDefaults(defaults, description.defaults),
})
