import type {DecoderSpec} from '../spec.js'
import type {ConfigReader} from './config-reader.js'

/** A model family: which `config.json` is one of its models, and what that model computes. */
export interface Family {
  name: string
  /** Values of `model_type` it answers to. */
  modelTypes: readonly string[]
  /** @param has whether the weights have a tensor of this name */
  read(config: ConfigReader, has: (tensor: string) => boolean): DecoderSpec
}
