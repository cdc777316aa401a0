import type {Adapter, FileDigests, ModelDefaults} from '../../weights/index.js'
import type {GenerateRequest} from '../request.js'
import {adapterSource, type ModelSources, type PartSource} from './model-sources.js'
import {digestOf, fingerprintOf, type ModelPart, noAdapter, Receipt} from './receipt.js'
import {type ProvenShape, sameBytes} from './same-bytes.js'

type DigestOfFile = (file: string) => Promise<string>

/** What identifies a model and its program in receipts. It is fixed when the model is loaded. */
export class ModelIdentity {
  readonly parts: Readonly<Record<ModelPart, string>>
  readonly #proven: ProvenShape | undefined
  readonly #adapted = new WeakMap<Adapter, Promise<ModelIdentity>>()

  private constructor(parts: Readonly<Record<ModelPart, string>>, proven: ProvenShape | undefined) {
    this.parts = parts
    this.#proven = proven
  }

  /**
   * Computes the digests of all files.
   * @param defaults what is added to conversations
   * @throws file_not_found, file_unreadable
   */
  static async of(
    {base, adapter, tokenizer, template, proven, ...others}: ModelSources,
    {system, messages}: Pick<ModelDefaults, 'system' | 'messages'>,
    digests: FileDigests,
  ): Promise<ModelIdentity> {
    const digest: DigestOfFile = (file) => digests.of(file)
    const parts = {
      ...others,
      base: await partOf(base, digest),
      adapter: adapter === undefined ? noAdapter : await partOf(adapter, digest),
      tokenizer: await partOf(tokenizer, digest),
      template: digestOf({template, system, messages}),
    }
    return new ModelIdentity(parts, proven)
  }

  /** The same model with another adapter. @param digest SHA-256 of its files */
  withAdapter(adapter: Adapter, digest: DigestOfFile): Promise<ModelIdentity> {
    const known = this.#adapted.get(adapter) ?? this.#adapt(adapter, digest)
    this.#adapted.set(adapter, known)
    return known
  }

  /** `system_fingerprint`: the receipt without the request. */
  get fingerprint(): string {
    return fingerprintOf(this.parts)
  }

  /**
   * The receipt of an admitted request.
   * @param contextLength tokens of prompt and reply together, at most
   */
  receiptOf({sampling: {seed, ...sampling}, ...request}: GenerateRequest, contextLength: number): Receipt {
    const {prompt: _, echo: __, topLogprobs: ___, adapter, format, tools, ...others} = request
    const {field: ____, ...stated} = format ?? {field: undefined}
    // Replies have the properties of a schema in its order.
    const ordered = JSON.stringify([format && stated, tools])
    return new Receipt({
      ...this.parts,
      adapter: adapter === false ? noAdapter : this.parts.adapter,
      sampling: digestOf({...others, sampling, contextLength, ordered}),
      seed: String(seed),
    })
  }

  async #adapt(adapter: Adapter, digest: DigestOfFile): Promise<ModelIdentity> {
    const part = await partOf(adapterSource(adapter), digest)
    return new ModelIdentity({...this.parts, adapter: part, bytes: sameBytes(this.#proven, adapter)}, this.#proven)
  }
}

const partOf = async ({files, rest}: PartSource, digest: DigestOfFile): Promise<string> =>
  digestOf({files: await Promise.all(files.map(digest)), rest})
