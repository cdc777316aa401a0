import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {type Device, obtainableMemory, physicalCores} from '../../onnx/index.js'
import {createTokenizer} from '../../text/index.js'
import {hasShards, type QuantizeProgress, readJsonObject, readShards, type TensorMap} from '../../weights/index.js'
import type {SpeechModel} from '../model/model.js'
import {alignmentHeads} from './alignment-heads.js'
import {readWhisperConfig, type WhisperConfig} from './config.js'
import {findExport} from './export-files.js'
import {openExportedNetwork} from './exported-network.js'
import {openGraphNetwork} from './graph-network.js'
import type {WhisperNetwork} from './network.js'
import {withQuantized} from './quantized-tensors.js'
import {readVocabulary, type WhisperVocabulary} from './vocabulary.js'
import {createWhisperModel, windowSecOf} from './whisper-model.js'

export interface OpenWhisperOptions {
  name: string
  threads: number
  /** The threads are divided among the instances. */
  sharesThreads?: boolean | undefined
  device: Device
  precision: 'auto' | 'f32' | 'int8'
  /** Cache folder of files derived from models. */
  derivedFolder: string
  onProgress?: ((progress: QuantizeProgress) => void) | undefined
  /** File from which the folder was converted, if any. */
  source?: string
}

/**
 * Opens a Whisper model in Hugging Face layout: `config.json`, `tokenizer.json`, optionally `generation_config.json`, and
 * safetensors or an ONNX export.
 * @throws model_file_missing, model_file_invalid, tokenizer_mismatch, tensor_missing, tensor_shape, shard_missing,
 *   safetensors_invalid, cache_unwritable
 */
export async function openWhisper(folder: string, options: OpenWhisperOptions): Promise<SpeechModel> {
  const parts = await readWhisperFolder(folder)
  const {config, generationConfig, vocabulary} = parts
  const multilingual = vocabulary.languages.size > 0
  const heads = alignmentHeads(config, generationConfig, multilingual)
  const {network, precision, instances} = await openNetwork(
    folder,
    config,
    {alignmentHeads: heads, textTokens: vocabulary.endOfText},
    options,
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
      wordTimings: network.aligns,
      languages: multilingual ? [...vocabulary.languages.keys()] : ['en'],
      translates: vocabulary.translate !== undefined,
      batch:
        vocabulary.firstTimestamp === undefined || network.batchBytes === undefined
          ? 0
          : suitableBatch(network.batchBytes),
      instances,
      drafts: network.anyLength ? 'window' : 'full',
    },
  })
}

/**
 * Number of windows to recognise together: four per core, because more are no faster, within an eighth of the memory. It is
 * never 1, so that the same recording has the same chunks at all times.
 */
export function suitableBatch(
  windowBytes: number,
  {cores, memory} = {cores: physicalCores(), memory: obtainableMemory()},
): number {
  return Math.max(2, Math.min(4 * cores, 16, Math.floor(memory / 8 / windowBytes)))
}

/** Uses generated graphs if there are safetensors, else an ONNX export. */
async function openNetwork(
  folder: string,
  config: WhisperConfig,
  model: {alignmentHeads: ReturnType<typeof alignmentHeads>; textTokens: number},
  options: OpenWhisperOptions,
): Promise<{network: WhisperNetwork; precision: 'f32' | 'int8'; instances: number}> {
  const {threads, device} = options
  const exported = (await hasShards(folder)) ? undefined : findExport(folder, options.precision)
  if (exported !== undefined) {
    const network = await openExportedNetwork(config, exported, {threads, device, ...model})
    return {network, precision: exported.precision, instances: 1}
  }
  const tensors = await readShards(folder)
  const precision = chosenPrecision(options, tensors)
  const {derivedFolder, source, onProgress} = options
  const cache = {folder: derivedFolder, model: source ?? folder, threads, onProgress}
  const weights = precision === 'int8' ? await withQuantized(tensors, cache) : tensors
  const isExact = device === 'cpu' && precision === 'int8' && config.audioPositions / threads > splitPositions
  const instances = isExact ? suitableInstances(weightBytes(tensors), threads) : 1
  const own = options.sharesThreads ? Math.floor(threads / instances) : threads
  return {network: await openGraphNetwork(config, weights, {threads: own, device, ...model}), precision, instances}
}

/**
 * Positions per thread up to which the runtime adds the products of floats in another order, so that results would depend
 * on the number of threads by rounding. The sums of bytes are exact.
 */
const splitPositions = 64

/** More copies of a model use more memory, and save little. */
const maxInstances = 4

/** Memory of a copy of a model in addition to its weights: those of the runtime, and the states of a window, bytes. */
const instanceBytes = 256 << 20

/** Number of copies of a model: up to one per thread, within a quarter of the memory. */
export function suitableInstances(bytes: number, threads: number, memory = obtainableMemory()): number {
  // Weights of 16 bits may become floats of 32 bits, of which the runtime has a second copy.
  const fit = Math.floor(memory / 4 / (4 * bytes + instanceBytes))
  return Math.max(1, Math.min(threads, maxInstances, fit))
}

const weightBytes = (tensors: TensorMap): number => [...tensors.values()].reduce((sum, {length}) => sum + length, 0)

export interface WhisperFolder {
  config: WhisperConfig
  generationConfig: Readonly<Record<string, unknown>>
  vocabulary: WhisperVocabulary
}

/** Reads the files of a Whisper model other than the weights. */
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

/** Minimum size of the weights for which quantisation is faster, bytes. */
const worthQuantizing = 16 << 20

function chosenPrecision({precision, device}: OpenWhisperOptions, tensors: TensorMap): 'f32' | 'int8' {
  if (precision !== 'auto') return precision
  return device === 'cpu' && weightBytes(tensors) >= worthQuantizing ? 'int8' : 'f32'
}
