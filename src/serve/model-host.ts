import {nearest, SvcError} from '../errors/index.js'
import {
  type CounterName,
  type Engine,
  type EngineOptions,
  type GenerateEvent,
  type GenerateRequest,
  type ModelDescription,
  maxPromptBytes,
  startEngine,
} from '../llm/index.js'
import {logger} from '../log/index.js'
import type {KeepAlive} from './keep-alive.js'
import type {ServedModel} from './served-model.js'

export interface HostOptions extends Omit<EngineOptions, 'signal'> {
  /** The name clients ask for; undefined takes that of the directory. */
  name: string | undefined
  /** How long an idle model stays loaded, ms. */
  keepAlive: KeepAlive
}

/** The longest time that a timer can wait, ms: about 25 days. */
const longestTimer = 2 ** 31 - 1

/**
 * The served model: loaded when the server starts, unloaded when it has been idle for as long as the last request
 * wanted, and loaded again when it is asked for.
 */
export class ModelHost {
  readonly served: ServedModel
  /** Whether a training run left the directory behind. */
  readonly trained: boolean
  /** Bytes of text that a prompt may have. */
  readonly mostPromptBytes: number
  readonly #path: string
  readonly #options: HostOptions
  #engine: Promise<Engine> | undefined
  #active = 0
  #keepAlive: KeepAlive
  #timer: NodeJS.Timeout | undefined
  #expiresAt: Date | 'forever' = 'forever'
  readonly #closing = new AbortController()

  private constructor(path: string, options: HostOptions, engine: Engine) {
    this.#path = path
    this.#options = options
    this.#keepAlive = options.keepAlive
    this.served = toServed(engine.description, options.name)
    this.trained = engine.description.trained
    this.mostPromptBytes = maxPromptBytes(engine.description.longestToken, engine.description.contextLength)
    this.#engine = Promise.resolve(engine)
  }

  /** @throws what `startEngine` throws; chat_template_failed */
  static async start(path: string, options: HostOptions, signal: AbortSignal): Promise<ModelHost> {
    const {name: _, keepAlive: __, ...engineOptions} = options
    const engine = await startEngine(path, {...engineOptions, signal})
    const {templateError} = engine.description
    if (templateError !== undefined) {
      await engine.close()
      throw SvcError.fromRecord(templateError)
    }
    const host = new ModelHost(path, options, engine)
    host.#arm()
    return host
  }

  /** Whether the model is in memory, and until when. */
  get loaded(): {expiresAt: Date | 'forever'} | undefined {
    return this.#engine === undefined ? undefined : {expiresAt: this.#expiresAt}
  }

  /**
   * The name to answer with: as the client wrote it, with or without Ollama's `:latest`.
   * @throws model_not_served
   */
  resolve(model: string | undefined): string {
    const {name} = this.served
    if (model === undefined || model === name || model === `${name}:latest`) return model ?? name
    throw new SvcError('model_not_served', {model, served: name, suggestion: nearest(model, [name])})
  }

  async counters(): Promise<Record<CounterName, number> | undefined> {
    return (await this.#engine)?.counters()
  }

  /** Loads the model where it is not. Gives how long that took, ms. */
  async load(keepAlive: KeepAlive | undefined): Promise<number> {
    this.#keepAlive = keepAlive ?? this.#options.keepAlive
    const started = performance.now()
    await this.#open()
    this.#arm()
    return performance.now() - started
  }

  /** See `Engine.generate`. The model is loaded where it is not, and stays for `keepAlive` afterwards. */
  async *generate(
    request: GenerateRequest,
    signal: AbortSignal,
    keepAlive?: KeepAlive,
  ): AsyncGenerator<GenerateEvent, void, undefined> {
    this.#active++
    clearTimeout(this.#timer)
    this.#keepAlive = keepAlive ?? this.#options.keepAlive
    try {
      const engine = await this.#open()
      yield* engine.generate(request, AbortSignal.any([signal, this.#closing.signal]))
    } finally {
      this.#active--
      this.#arm()
    }
  }

  /** Unloads the model: at once where it is idle, else when the last running request ends. */
  async unload(): Promise<void> {
    this.#keepAlive = 0
    if (this.#active === 0) await this.#closeEngine()
  }

  /** Ends everything that runs. */
  async close(): Promise<void> {
    this.#closing.abort(new SvcError('terminated', {}))
    await this.#closeEngine()
  }

  async #closeEngine(): Promise<void> {
    clearTimeout(this.#timer)
    const engine = this.#engine
    this.#engine = undefined
    await (await engine)?.close()
  }

  #open(): Promise<Engine> {
    const {name: _, keepAlive: __, ...options} = this.#options
    if (this.#engine !== undefined) return this.#engine
    const engine = startEngine(this.#path, options)
    engine.catch(() => {
      if (this.#engine === engine) this.#engine = undefined
    })
    this.#engine = engine
    return engine
  }

  /** Waits for as long as the model may be idle. */
  #arm(): void {
    clearTimeout(this.#timer)
    const keepAlive = this.#keepAlive
    this.#expiresAt = keepAlive === 'forever' ? 'forever' : new Date(Date.now() + keepAlive)
    if (keepAlive === 'forever' || keepAlive > longestTimer || this.#active > 0) return
    this.#timer = setTimeout(() => {
      if (this.#active === 0) void this.unload().catch((err) => logger('serve').error({err}, 'Unloading failed.'))
    }, keepAlive)
    this.#timer.unref()
  }
}

const toServed = (description: ModelDescription, name: string | undefined): ServedModel => ({
  ...description,
  name: name ?? (description.name || 'svc-local'),
})
