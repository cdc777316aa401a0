import {existsSync} from 'node:fs'
import {readFile} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {SvcError} from '../../errors/index.js'
import type {Device} from '../../onnx/index.js'
import {readJsonObject} from '../../weights/index.js'
import type {SpeechModel} from '../model/model.js'
import {type CtcConfig, type CtcWords, readCtcConfig} from './config.js'
import {createCtcModel} from './ctc-model.js'
import {type CtcEncoder, openDescribedEncoder, openExportedEncoder} from './encoder.js'
import {streamingEncoder} from './encoder-stream.js'
import {type CtcVocabulary, readCtcVocabulary} from './vocabulary.js'
import {WordList} from './word-list.js'

export interface OpenCtcOptions {
  name: string
  threads: number
  device: Device
  precision: 'auto' | 'f32' | 'int8'
}

/** Longest stretch that is recognised at once, seconds. */
const windowSec = 30

/**
 * Opens a CTC model: layers that its `config.json` describes with weights in safetensors, an ONNX encoder that it names,
 * or the ONNX export of a wav2vec2 and its kin.
 * @throws model_file_missing, model_file_invalid, tokenizer_mismatch, tensor_missing, tensor_shape, speech_model_unknown
 */
export async function openCtc(folder: string, options: OpenCtcOptions): Promise<SpeechModel> {
  const file = join(folder, 'config.json')
  const json = await readJsonObject(file)
  const config = json.model_type === 'ctc' ? readCtcConfig(json, file) : await readExportConfig(folder, json, options)
  const vocabularyFile = join(folder, config.vocabularyFile)
  if (!existsSync(vocabularyFile))
    throw new SvcError('model_file_missing', {file: config.vocabularyFile, tried: [vocabularyFile]})
  const vocabulary = readCtcVocabulary(await readJsonObject(vocabularyFile), {...config, file: vocabularyFile})
  const words = config.words === undefined ? undefined : await readWordList(folder, config.words, vocabulary)
  const encoder = await openEncoder(folder, config, options)
  const size = encoder.vocabularySize ?? vocabulary.texts.length
  if (size < vocabulary.texts.length) {
    await encoder.release()
    const reason = `it has ${vocabulary.texts.length} tokens, but the model outputs ${size}`
    throw new SvcError('tokenizer_mismatch', {file: vocabularyFile, reason})
  }
  const streaming =
    'layers' in config.encoder ? streamingEncoder(folder, config, config.encoder.layers, options) : undefined
  return createCtcModel({
    encoder,
    streaming,
    vocabulary,
    words,
    description: {
      family: 'ctc',
      name: options.name,
      path: folder,
      precision: 'file' in config.encoder && /int8|quantized/.test(config.encoder.file) ? 'int8' : 'f32',
      device: options.device,
      windowSec,
      timestamps: false,
      wordTimings: true,
      languages: config.languages,
      translates: false,
      batch: 0,
      instances: 1,
      drafts: streaming === undefined ? 'window' : 'stream',
    },
  })
}

/** @throws model_file_missing */
async function readWordList(
  folder: string,
  {file, pairsFile, ...options}: CtcWords,
  vocabulary: CtcVocabulary,
): Promise<WordList> {
  const pairs = pairsFile === undefined ? '' : await readText(join(folder, pairsFile))
  return new WordList(await readText(join(folder, file)), vocabulary, {...options, pairs})
}

function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => {
    throw new SvcError('model_file_missing', {file: basename(path), tried: [path]})
  })
}

function openEncoder(
  folder: string,
  {encoder, features, ...config}: CtcConfig,
  options: OpenCtcOptions,
): Promise<CtcEncoder> {
  if ('file' in encoder) return openExportedEncoder(folder, encoder.file, features, options)
  return openDescribedEncoder(folder, {...config, encoder, features}, encoder.layers, options)
}

/** Converts the files of an export to a CTC configuration. */
async function readExportConfig(
  folder: string,
  json: Readonly<Record<string, unknown>>,
  {precision}: OpenCtcOptions,
): Promise<CtcConfig> {
  const optional = async (name: string) =>
    existsSync(join(folder, name)) ? await readJsonObject(join(folder, name)) : {}
  const {do_normalize: normalize = true} = await optional('preprocessor_config.json')
  const {pad_token: pad = '<pad>', word_delimiter_token: delimiter = '|'} = await optional('tokenizer_config.json')
  const names =
    precision === 'int8' ? ['model_int8', 'model_quantized', 'model'] : ['model', 'model_int8', 'model_quantized']
  const files = names.flatMap((name) => [`onnx/${name}.onnx`, `${name}.onnx`])
  const encoder = files.find((name) => existsSync(join(folder, name)))
  if (encoder === undefined) {
    const found = `it has no onnx/model.onnx, which models of type ${String(json.model_type)} require`
    throw new SvcError('speech_model_unknown', {path: folder, found})
  }
  return {
    file: join(folder, 'config.json'),
    languages: ['en'],
    features: {type: 'waveform', normalize: normalize === true},
    encoder: {file: encoder},
    vocabularyFile: 'vocab.json',
    blankToken: typeof pad === 'string' ? pad : '<pad>',
    wordDelimiterToken: typeof delimiter === 'string' ? delimiter : '|',
    words: undefined,
  }
}
