import type {KnownAdapter} from './adapter-catalog.js'
import type {Admission} from './admission.js'
import type {RequestDefaults} from './defaults.js'
import type {KeepAlive} from './keep-alive.js'
import type {ModelHost, ModelService} from './model-host.js'
import type {ServedModel} from './served-model.js'

/** A model with an adapter, which clients request by the name of the adapter. */
export class AdapterModel implements ModelService {
  readonly #base: ModelHost
  readonly #known: KnownAdapter

  constructor(base: ModelHost, known: KnownAdapter) {
    this.#base = base
    this.#known = known
  }

  get name(): string {
    return this.#known.source.name
  }

  get served(): ServedModel {
    return adapted(this.#base.served, this.#known)
  }

  get requestDefaults(): RequestDefaults {
    return this.#base.requestDefaults
  }

  load(keepAlive: KeepAlive | undefined, signal?: AbortSignal): Promise<number> {
    return this.#base.load(keepAlive, signal)
  }

  /** Replies have the adapter as it was when the request arrived, even if another one gets its name meanwhile. */
  admit(signal: AbortSignal, keepAlive?: KeepAlive): Promise<Admission> {
    return this.#base.admit(signal, keepAlive, this.#known)
  }

  /** Frees the memory of the adapter, not that of the model. */
  async unload(): Promise<void> {
    await this.#base.forgetAdapter(this.#known.source.key)
  }
}

/** The description of a model with an adapter. @param memoryBytes of the adapter; default: of the model */
export const adapted = (base: ServedModel, known: KnownAdapter, memoryBytes = base.memoryBytes): ServedModel => ({
  ...base,
  name: known.source.name,
  folders: [known.source.folder],
  baseModel: base.name,
  bytes: base.bytes + known.bytes,
  memoryBytes,
  digest: known.digest,
  modifiedAt: known.modifiedAt,
  adapted: true,
  trained: true,
})
