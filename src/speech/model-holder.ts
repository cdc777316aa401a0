import {type SpeechEngine, type SpeechEngineOptions, startSpeechEngine} from './engine.js'
import type {OpenVadModel} from './neural-vad.js'
import {orAborted} from './or-aborted.js'

export interface ModelSource {
  /** Finds the model when the first recording needs it. */
  locate: (signal: AbortSignal) => Promise<{name: string; path: string}>
  engine: Omit<SpeechEngineOptions, 'name' | 'signal'>
}

/** A speech model for any number of transcribers: found and started when it is first needed, and then kept. */
export class ModelHolder {
  readonly #source: ModelSource
  readonly #closed = new AbortController()
  #engine: Promise<SpeechEngine> | undefined
  readonly #vadModels = new Map<string, Promise<OpenVadModel>>()

  constructor(source: ModelSource) {
    this.#source = source
  }

  /** True once the model is being started, until that fails. */
  get isStarted(): boolean {
    return this.#engine !== undefined
  }

  /**
   * Returns the running model; `loadMs` is 0 if an earlier call has started it. An abort ends only the wait.
   * @throws what `locate` and `startSpeechEngine` throw; the reason of the signal
   */
  async open(signal: AbortSignal | undefined): Promise<{engine: SpeechEngine; loadMs: number}> {
    signal?.throwIfAborted()
    const isFirst = this.#engine === undefined
    this.#engine ??= this.#start().catch((error: unknown) => {
      this.#engine = undefined
      throw error
    })
    const engine = await orAborted(this.#engine, signal)
    return {engine, loadMs: isFirst ? engine.loadMs : 0}
  }

  async #start(): Promise<SpeechEngine> {
    const {locate, engine: options} = this.#source
    const {signal} = this.#closed
    const {name, path} = await locate(signal)
    return startSpeechEngine(path, {...options, name, signal})
  }

  /** Opens the model of the neural voice activity detector. */
  vadModel(path: string): Promise<OpenVadModel> {
    const known = this.#vadModels.get(path)
    if (known !== undefined) return known
    // The runtime is loaded only if it is needed; speech itself is recognised in another thread.
    const opened = import('./neural-vad.js').then(({openVadModel}) => openVadModel(path))
    this.#vadModels.set(path, opened)
    opened.catch(() => this.#vadModels.delete(path))
    return opened
  }

  async close(): Promise<void> {
    this.#closed.abort()
    await (await this.#engine?.catch(() => undefined))?.release()
    for (const model of this.#vadModels.values()) await (await model.catch(() => undefined))?.release()
  }
}
