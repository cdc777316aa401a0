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
import {startTimer, type Timer} from '../process/index.js'
import type {KeepAlive} from './keep-alive.js'
import type {ServedModel} from './served-model.js'

export interface HostOptions extends Omit<EngineOptions, 'signal'> {
  /** Model name for clients; default: the name of the directory. */
  name: string | undefined
  /** How long an idle model stays loaded, ms. */
  keepAlive: KeepAlive
}

/**
 * The served model. It is loaded when the server starts, unloaded after it has been idle for the `keepAlive` of the last
 * request, and loaded again on the next request.
 */
export class ModelHost {
  readonly served: ServedModel
  /** Whether the directory is the result of a training run. */
  readonly trained: boolean
  /** Maximum length of a prompt, bytes. */
  readonly maxPromptBytes: number
  readonly #path: string
  readonly #options: HostOptions
  #engine: Promise<Engine> | undefined
  #active = 0
  #keepAlive: KeepAlive
  #timer: Timer | undefined
  #expiresAt: Date | 'forever' = 'forever'
  readonly #closing = new AbortController()

  private constructor(path: string, options: HostOptions, engine: Engine) {
    this.#path = path
    this.#options = options
    this.#keepAlive = options.keepAlive
    this.served = toServed(engine.description, options.name)
    this.trained = engine.description.trained
    this.maxPromptBytes = maxPromptBytes(engine.description.longestToken, engine.description.contextLength)
    this.#engine = Promise.resolve(engine)
  }

  /** @throws what `startEngine` throws */
  static async start(path: string, options: HostOptions, signal: AbortSignal): Promise<ModelHost> {
    const {name: _, keepAlive: __, ...engineOptions} = options
    const engine = await startEngine(path, {...engineOptions, signal})
    const host = new ModelHost(path, options, engine)
    host.#arm()
    return host
  }

  /** Whether the model is in memory, and until when. */
  get loaded(): {expiresAt: Date | 'forever'} | undefined {
    return this.#engine === undefined ? undefined : {expiresAt: this.#expiresAt}
  }

  /**
   * The model name to answer with: as in the request, with or without Ollama's `:latest`.
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

  /** Loads the model if necessary; returns the time it took, ms. */
  async load(keepAlive: KeepAlive | undefined): Promise<number> {
    this.#keepAlive = keepAlive ?? this.#options.keepAlive
    const started = performance.now()
    await this.#open()
    this.#arm()
    return performance.now() - started
  }

  /** See `Engine.generate`. Loads the model if necessary; afterwards it stays loaded for `keepAlive`. */
  async *generate(
    request: GenerateRequest,
    signal: AbortSignal,
    keepAlive?: KeepAlive,
  ): AsyncGenerator<GenerateEvent, void, undefined> {
    this.#active++
    this.#timer?.stop()
    this.#keepAlive = keepAlive ?? this.#options.keepAlive
    try {
      const engine = await this.#open()
      yield* engine.generate(request, AbortSignal.any([signal, this.#closing.signal]))
    } finally {
      this.#active--
      this.#arm()
    }
  }

  /** Unloads the model: immediately if it is idle, else when the last running request ends. */
  async unload(): Promise<void> {
    this.#keepAlive = 0
    if (this.#active === 0) await this.#closeEngine()
  }

  /** Aborts all running requests and unloads the model. */
  async close(): Promise<void> {
    this.#closing.abort(new SvcError('terminated', {}))
    await this.#closeEngine()
  }

  async #closeEngine(): Promise<void> {
    this.#timer?.stop()
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

  /** Starts the idle timer. */
  #arm(): void {
    this.#timer?.stop()
    const keepAlive = this.#keepAlive
    this.#expiresAt = keepAlive === 'forever' ? 'forever' : new Date(Date.now() + keepAlive)
    if (keepAlive === 'forever' || this.#active > 0) return
    const unloadIfIdle = () => {
      if (this.#active === 0)
        void this.unload().catch((err) => logger('serve').error({err}, 'Failed to unload the model.'))
    }
    this.#timer = startTimer(unloadIfIdle, keepAlive, {isWaitedFor: false})
  }
}

const toServed = (description: ModelDescription, name: string | undefined): ServedModel => ({
  ...description,
  name: name ?? (description.name || 'svc-local'),
})
