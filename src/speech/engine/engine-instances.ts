import {type SpeechEngine, type SpeechEngineOptions, startSpeechEngine} from './engine.js'

/**
 * Starts a speech model in several worker threads, which share the compute threads: two windows on one core each take less
 * time than one after the other on two cores. The model determines the number of workers by its size and the machine.
 * @throws what `startSpeechEngine` throws for the first worker
 */
export async function startSpeechEngines(path: string, options: SpeechEngineOptions): Promise<SpeechEngine> {
  const first = await startSpeechEngine(path, {...options, sharesThreads: true})
  return first.description.instances === 1 ? first : new EngineInstances(first, path, options)
}

/** Each request goes to an idle worker; if there is none, it waits. */
class EngineInstances implements SpeechEngine {
  readonly description: SpeechEngine['description']
  readonly loadMs: number
  readonly recogniseAll?: NonNullable<SpeechEngine['recogniseAll']>
  readonly #idle: SpeechEngine[]
  readonly #waiting: ((engine: SpeechEngine) => void)[] = []
  readonly #released = new AbortController()
  /** All workers, once they have been started. */
  readonly #all: Promise<readonly SpeechEngine[]>

  constructor(first: SpeechEngine, path: string, options: SpeechEngineOptions) {
    this.description = first.description
    this.loadMs = first.loadMs
    this.#idle = [first]
    const {recogniseAll} = first
    if (recogniseAll !== undefined)
      this.recogniseAll = (...args) => this.#run((engine) => engine.recogniseAll!(...args))
    const others = Array.from({length: first.description.instances - 1}, () => this.#start(path, options))
    this.#all = Promise.all(others).then((started) => [first, ...started.flatMap((engine) => engine ?? [])])
  }

  recognise: SpeechEngine['recognise'] = (...args) => this.#run((engine) => engine.recognise(...args))

  detectLanguage: SpeechEngine['detectLanguage'] = (...args) => this.#run((engine) => engine.detectLanguage(...args))

  async release(): Promise<void> {
    this.#released.abort()
    for (const engine of await this.#all) await engine.release()
  }

  /** Recordings do not fail because a further worker does not start: the others recognise them. */
  async #start(path: string, options: SpeechEngineOptions): Promise<SpeechEngine | undefined> {
    try {
      const {signal} = this.#released
      const engine = await startSpeechEngine(path, {...options, sharesThreads: true, signal})
      this.#offer(engine)
      return engine
    } catch (err) {
      // Imported late: commands that only look for models do not load it.
      const {logger} = await import('../../log/index.js')
      if (!this.#released.signal.aborted) logger('speech').debug({err}, 'A further worker of the model did not start.')
      return undefined
    }
  }

  async #run<T>(work: (engine: SpeechEngine) => Promise<T>): Promise<T> {
    const engine = this.#idle.pop() ?? (await new Promise<SpeechEngine>((resolve) => this.#waiting.push(resolve)))
    try {
      return await work(engine)
    } finally {
      this.#offer(engine)
    }
  }

  #offer(engine: SpeechEngine): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#idle.push(engine)
    else next(engine)
  }
}
