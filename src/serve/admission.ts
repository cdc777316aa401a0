import {
  type AdapterSource,
  type Engine,
  type GenerateEvent,
  type GenerateRequest,
  type ModelIdentity,
  type Receipt,
  withDefaults,
} from '../llm/index.js'
import type {ModelDefaults} from '../weights/index.js'

interface Admitted {
  engine: Engine
  identity: ModelIdentity
  /** In place of that of the model. */
  adapter: AdapterSource | undefined
  /** Time to load the model, ms. */
  loadMs: number
  /** What is added to conversations. */
  defaults: ModelDefaults
  /** Aborts when the server ends. */
  closing: AbortSignal
  onRelease: () => void
}

/**
 * The right of a client to use a loaded model. What it was computed from is fixed from here on: neither an unloaded nor a
 * replaced model changes its replies or its receipt.
 */
export class Admission {
  readonly loadMs: number
  readonly #admitted: Admitted
  #isReleased = false

  constructor(admitted: Admitted) {
    this.loadMs = admitted.loadMs
    this.#admitted = admitted
  }

  /** `system_fingerprint` of the replies. */
  get fingerprint(): string {
    return this.#admitted.identity.fingerprint
  }

  receiptOf(request: GenerateRequest): Receipt {
    const {identity, engine} = this.#admitted
    const {contextLength} = engine.description
    return identity.receiptOf(request, Math.min(contextLength, request.contextLength ?? contextLength))
  }

  /** See `Engine.generate`. */
  generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<GenerateEvent, void, undefined> {
    const {engine, closing} = this.#admitted
    return engine.generate(this.#completed(request), AbortSignal.any([signal, closing]))
  }

  /** See `Engine.countTokens`. */
  countTokens(request: GenerateRequest, signal: AbortSignal): Promise<number> {
    const {engine, closing} = this.#admitted
    return engine.countTokens(this.#completed(request), AbortSignal.any([signal, closing]))
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#admitted.onRelease()
  }

  #completed(request: GenerateRequest): GenerateRequest {
    const {adapter, defaults} = this.#admitted
    const prompt = withDefaults(request.prompt, defaults)
    return {...request, prompt, ...(adapter === undefined ? {} : {adapter})}
  }
}
