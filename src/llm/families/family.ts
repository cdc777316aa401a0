import type {DecoderSpec} from '../spec.js'
import type {ConfigReader} from './config-reader.js'

/** A model family: reads a `config.json` into a `DecoderSpec`. */
export interface Family {
  name: string
  /** Its values of `model_type`. */
  modelTypes: readonly string[]
  /** Values of absent keys, if other than those of Llama. */
  defaults?: Readonly<Record<string, unknown>>
  /** @param has whether the weights contain a tensor */
  read(config: ConfigReader, has: (tensor: string) => boolean): DecoderSpec
}
