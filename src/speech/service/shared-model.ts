import {ModelHolder, type ModelSource} from '../engine/model-holder.js'

/** The model that a call needs. */
export interface ModelChoice {
  /** Identifies the model and how it runs; a different value opens another model. */
  modelKey: string
  source: ModelSource
  /** Time after which an unused model is unloaded, ms; negative: never. */
  keepAliveMs: number
}

/** The use of a model, until `release` is called. */
interface ModelUse {
  holder: ModelHolder
  release(): void
}

interface Loaded {
  key: string
  holder: ModelHolder
  users: number
  idle: NodeJS.Timeout | undefined
}

/** The model that all calls share. It is replaced when a call needs another one, and unloaded when it has no users. */
export class SharedModel {
  #current: Loaded | undefined

  /** True if the model is loaded or being loaded. */
  get isLoaded(): boolean {
    return this.#current?.holder.isStarted ?? false
  }

  acquire({modelKey: key, source, keepAliveMs}: ModelChoice): ModelUse {
    const previous = this.#current
    const model: Loaded =
      previous?.key === key ? previous : {key, holder: new ModelHolder(source), users: 0, idle: undefined}
    this.#current = model
    if (previous !== undefined && previous !== model && previous.users === 0) void unload(previous)
    clearTimeout(model.idle)
    model.users++
    return {holder: model.holder, release: () => this.#release(model, keepAliveMs)}
  }

  /** Closes the model, which must have no users. */
  async close(): Promise<void> {
    if (this.#current !== undefined) await unload(this.#current)
  }

  #release(model: Loaded, keepAliveMs: number): void {
    model.users--
    if (model.users > 0) return
    if (model !== this.#current) void unload(model)
    else if (keepAliveMs >= 0)
      model.idle = setTimeout(() => {
        if (this.#current === model) this.#current = undefined
        void unload(model)
      }, keepAliveMs).unref()
  }
}

function unload({idle, holder}: Loaded): Promise<void> {
  clearTimeout(idle)
  return holder.close()
}
