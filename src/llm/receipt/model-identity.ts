import type {FileDigests, ModelDefaults} from '../../weights/index.js'
import type {GenerateRequest} from '../request.js'
import type {ModelSources, PartSource} from './model-sources.js'
import {digestOf, fingerprintOf, type ModelPart, noAdapter, Receipt} from './receipt.js'

/** What identifies a model and its program in receipts. It is fixed when the model is loaded. */
export class ModelIdentity {
  readonly parts: Readonly<Record<ModelPart, string>>

  private constructor(parts: Readonly<Record<ModelPart, string>>) {
    this.parts = parts
  }

  /**
   * Computes the digests of all files.
   * @param defaults what is added to conversations
   * @throws file_not_found, file_unreadable
   */
  static async of(
    {base, adapter, tokenizer, template, ...others}: ModelSources,
    {system, messages}: Pick<ModelDefaults, 'system' | 'messages'>,
    digests: FileDigests,
  ): Promise<ModelIdentity> {
    const partOf = async ({files, rest}: PartSource) =>
      digestOf({files: await Promise.all(files.map((file) => digests.of(file))), rest})
    return new ModelIdentity({
      ...others,
      base: await partOf(base),
      adapter: adapter === undefined ? noAdapter : await partOf(adapter),
      tokenizer: await partOf(tokenizer),
      template: digestOf({template, system, messages}),
    })
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
    const {prompt: _, echo: __, topLogprobs: ___, adapter = true, format, tools, ...others} = request
    const {field: ____, ...stated} = format ?? {field: undefined}
    // Replies have the properties of a schema in its order.
    const ordered = JSON.stringify([format && stated, tools])
    return new Receipt({
      ...this.parts,
      adapter: adapter ? this.parts.adapter : noAdapter,
      sampling: digestOf({...others, sampling, contextLength, ordered}),
      seed: String(seed),
    })
  }
}
