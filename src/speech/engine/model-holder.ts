import {holdOpenFor} from '../../files/index.js'
import {orAborted} from '../../process/index.js'
import type {OpenVadModel} from '../model/neural-vad.js'
import {type SpeechEngine, type SpeechEngineOptions, startSpeechEngine} from './engine.js'
import {startSpeechEngines} from './engine-instances.js'

export interface ModelSource {
  /** Finds the model when the first recording needs it. */
  locate: (signal: AbortSignal) => Promise<{name: string; path: string}>
  engine: Omit<SpeechEngineOptions, 'name' | 'signal'>
}

/** A speech model for any number of transcribers: found and started when it is first needed, and then kept. */
export class ModelHolder {
  readonly #source: ModelSource
  readonly #closed = new AbortController()
  /** The model with all threads for one recording, or with several workers for recordings that are transcribed together. */
  readonly #engines: {alone?: Promise<SpeechEngine> | undefined; together?: Promise<SpeechEngine> | undefined} = {}
  readonly #vadModels = new Map<string, Promise<OpenVadModel>>()
  /** End the use of the files of the model, which other processes see. */
  readonly #releases: (() => void)[] = []

  constructor(source: ModelSource) {
    this.#source = source
  }

  /** True once the model is being started, until that fails. */
  get isStarted(): boolean {
    const {alone, together} = this.#engines
    return (alone ?? together) !== undefined
  }

  /**
   * Returns the running model; `loadMs` is 0 if an earlier call has started it. An abort ends only the wait.
   * @param use whether other recordings are transcribed at the same time; their results are the same
   * @throws what `locate` and `startSpeechEngine` throw; the reason of the signal
   */
  async open(
    signal: AbortSignal | undefined,
    use: 'alone' | 'together' = 'alone',
  ): Promise<{engine: SpeechEngine; loadMs: number}> {
    signal?.throwIfAborted()
    const isFirst = this.#engines[use] === undefined
    this.#engines[use] ??= this.#start(use).catch((error: unknown) => {
      this.#engines[use] = undefined
      throw error
    })
    const engine = await orAborted(this.#engines[use], signal)
    return {engine, loadMs: isFirst ? engine.loadMs : 0}
  }

  /**
   * A model that has only one instance is started once for both uses; if it cannot be started again, for instance because
   * its files were removed, it serves both, too.
   */
  async #start(use: 'alone' | 'together'): Promise<SpeechEngine> {
    const other = await this.#engines[use === 'alone' ? 'together' : 'alone']?.catch(() => undefined)
    if (other?.description.instances === 1) return other
    const {locate, engine: options} = this.#source
    const {signal} = this.#closed
    const {name, path} = other?.description ?? (await locate(signal))
    const release = holdOpenFor(path)
    if (release !== undefined) this.#releases.push(release)
    const start = use === 'alone' ? startSpeechEngine : startSpeechEngines
    try {
      return await start(path, {...options, name, signal})
    } catch (error) {
      if (other === undefined || signal.aborted) throw error
      return other
    }
  }

  /** Opens the model of the neural voice activity detector. */
  vadModel(path: string): Promise<OpenVadModel> {
    const known = this.#vadModels.get(path)
    if (known !== undefined) return known
    // The runtime is loaded only if it is needed; speech itself is recognised in another thread.
    const opened = import('../model/neural-vad.js').then(({openVadModel}) => openVadModel(path))
    this.#vadModels.set(path, opened)
    opened.catch(() => this.#vadModels.delete(path))
    return opened
  }

  async close(): Promise<void> {
    this.#closed.abort()
    const engines = await Promise.all(Object.values(this.#engines).map((engine) => engine?.catch(() => undefined)))
    for (const engine of new Set(engines)) await engine?.release()
    for (const model of this.#vadModels.values()) await (await model.catch(() => undefined))?.release()
    for (const release of this.#releases.splice(0)) release()
  }
}
