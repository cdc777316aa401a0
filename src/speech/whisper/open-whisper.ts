import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {SvcError} from '../../errors/index.js'
import type {Device} from '../../onnx/index.js'
import {createTokenizer} from '../../text/index.js'
import {readJsonObject, readShards, type TensorMap} from '../../weights/index.js'
import type {SpeechModel} from '../model.js'
import {alignmentHeads} from './alignment-heads.js'
import {readWhisperConfig, type WhisperConfig} from './config.js'
import {openGraphNetwork} from './graph-network.js'
import {withQuantizedTwins} from './quantized-tensors.js'
import {readVocabulary, type WhisperVocabulary} from './vocabulary.js'
import {createWhisperModel, windowSecOf} from './whisper-model.js'

export interface OpenWhisperOptions {
  name: string
  threads: number
  device: Device
  precision: 'auto' | 'f32' | 'int8'
  /** Folder of files that are made from models. */
  derivedFolder: string
}

/**
 * Opens a Whisper in Hugging Face layout: `config.json`, `tokenizer.json`, `generation_config.json` where there is one,
 * and safetensors.
 * @throws model_file_missing, model_file_invalid, tokenizer_mismatch, tensor_missing, tensor_shape, shard_missing,
 *   safetensors_invalid, cache_unwritable
 */
export async function openWhisper(folder: string, options: OpenWhisperOptions): Promise<SpeechModel> {
  const {config, generationConfig, vocabulary} = await readWhisperFolder(folder)
  const tensors = await readShards(folder)
  const precision = chosenPrecision(options, tensors)
  const multilingual = vocabulary.languages.size > 0
  const network = await openGraphNetwork(
    config,
    precision === 'int8' ? await withQuantizedTwins(tensors, options.derivedFolder) : tensors,
    {
      threads: options.threads,
      device: options.device,
      alignmentHeads: alignmentHeads(config, generationConfig, multilingual),
    },
  )
  return createWhisperModel({
    config,
    vocabulary,
    network,
    description: {
      family: 'whisper',
      name: options.name,
      path: folder,
      precision,
      device: options.device,
      windowSec: windowSecOf(config),
      timestamps: vocabulary.firstTimestamp !== undefined,
      languages: multilingual ? [...vocabulary.languages.keys()] : ['en'],
      translates: vocabulary.translate !== undefined,
    },
  })
}

export interface WhisperFolder {
  config: WhisperConfig
  generationConfig: Readonly<Record<string, unknown>>
  vocabulary: WhisperVocabulary
}

/** What lies beside the weights of a Whisper. */
export async function readWhisperFolder(folder: string): Promise<WhisperFolder> {
  const file = join(folder, 'config.json')
  const json = await readJsonObject(file)
  const config = readWhisperConfig(json, file)
  const optional = async (name: string) =>
    existsSync(join(folder, name)) ? await readJsonObject(join(folder, name)) : {}
  const tokenizerFile = join(folder, 'tokenizer.json')
  if (!existsSync(tokenizerFile))
    throw new SvcError('model_file_missing', {file: 'tokenizer.json', tried: [tokenizerFile]})
  const tokenizer = createTokenizer(
    await readJsonObject(tokenizerFile),
    await optional('tokenizer_config.json'),
    tokenizerFile,
  )
  const generationConfig = await optional('generation_config.json')
  const vocabulary = readVocabulary({
    tokenizer,
    file: tokenizerFile,
    size: config.vocabSize,
    config: json,
    generationConfig,
  })
  return {config, generationConfig, vocabulary}
}

/** Below this many bytes of weights a smaller copy gains nothing. */
const worthQuantizing = 16 << 20

function chosenPrecision({precision, device}: OpenWhisperOptions, tensors: TensorMap): 'f32' | 'int8' {
  if (precision !== 'auto') return precision
  const bytes = [...tensors.values()].reduce((sum, {length}) => sum + length, 0)
  return device === 'cpu' && bytes >= worthQuantizing ? 'int8' : 'f32'
}
