import {copyFile, mkdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {sharedData} from './project.js'

/** The words of the tokens 0 to 9 of the micro-Whisper. */
export const digits = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'] as const

/** Path of the micro-Whisper in the shared data, for `skipWithout`. */
export const microData = 'micro-whisper-fixture/model.safetensors'

/** A tokenizer with the ten digits and the two tokens around a text. */
export const digitTokenizer = {
  version: '1.0',
  added_tokens: ['<|startoftranscript|>', '<|endoftext|>'].map((content, i) => ({
    id: 10 + i,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  })),
  normalizer: null,
  pre_tokenizer: {type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true},
  post_processor: null,
  decoder: {type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true},
  model: {
    type: 'BPE',
    vocab: Object.fromEntries([...digits.map((word, id) => [`Ġ${word}`, id]), ['Ġ', 12]]),
    merges: [],
  },
}

/** The same tokens for a tokenizer that also encodes the digits. */
export const encodingTokenizer = {...digitTokenizer, model: {...digitTokenizer.model, ignore_merges: true}}

/** The micro-Whisper as a model directory: the shared weights with the missing tokenizer. */
export async function writeMicroWhisper(folder: string): Promise<void> {
  await mkdir(folder, {recursive: true})
  const shared = (file: string) => {
    const path = sharedData(`micro-whisper-fixture/${file}`)
    if (path === undefined) throw new Error('The shared test data is absent.')
    return path
  }
  await copyFile(shared('model.safetensors'), join(folder, 'model.safetensors'))
  const config = JSON.parse(await readFile(shared('config.json'), 'utf8')) as object
  await writeFile(join(folder, 'config.json'), JSON.stringify({model_type: 'whisper', ...config}))
  await writeFile(join(folder, 'tokenizer.json'), JSON.stringify(digitTokenizer))
}

/** The clips of the micro-Whisper with their expected words. */
export async function microClips(): Promise<{path: string; words: string[]}[]> {
  const references = JSON.parse(await readFile(sharedData('micro-whisper-fixture/ref.json') ?? '', 'utf8')) as {
    torch: number[]
  }[]
  return references.map(({torch}, i) => ({
    path: sharedData(`micro-whisper-fixture/u${i}.wav`) ?? '',
    words: torch.map((token) => digits[token] ?? '?'),
  }))
}
