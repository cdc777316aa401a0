import type {DecoderSpec} from '../spec.js'
import type {ConfigReader} from './config-reader.js'

/** A model family: reads a `config.json` into a `DecoderSpec`. */
export interface Family {
  name: string
  /** Its values of `model_type`. */
  modelTypes: readonly string[]
  /** @param has whether the weights contain a tensor */
  read(config: ConfigReader, has: (tensor: string) => boolean): DecoderSpec
}
