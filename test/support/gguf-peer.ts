import {createHash} from 'node:crypto'
import {existsSync, readFileSync} from 'node:fs'
import {mkdir, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {inByteAlphabet} from '../../src/text/vocabulary.js'
import {type GgufEntry, ggufFile} from './gguf-file.js'
import {type GgufTypeName, ggufTypes, writeGguf} from './gguf-model.js'
import {projectFile} from './project.js'
import {growingQueries, longRope} from './tiny-families.js'
import {type TinyModel, writeTinyModel} from './tiny-model.js'

/** A model whose predictions are compared with those of llama.cpp. */
export interface PeerModel {
  name: string
  type: GgufTypeName
  model: Partial<TinyModel>
  /** Largest difference of the margins, where both compute with 32-bit floats. */
  tolerance?: number
}

/** Differences of logits of up to 6, by rounding; and with the table of 16-bit floats that llama.cpp has for GELU. */
const [exact, geluTable] = [3e-4, 5e-3]
const square = {hiddenSize: 256, intermediateSize: 256, heads: 8, kvHeads: 4, headDim: 32}
const small = {hiddenSize: 64, intermediateSize: 96, kvHeads: 2, headDim: 16, layers: 4, tied: true}

/** Models in each type of GGUF files, and models of each family as 32-bit floats. */
export const peerModels: readonly PeerModel[] = [
  ...(Object.keys(ggufTypes) as GgufTypeName[]).map((type) => ({
    name: `llama ${type}`,
    type,
    model: {family: 'llama' as const, ...square},
  })),
  {name: 'qwen2 F16', type: 'F16', model: {family: 'qwen2', tied: true, ...square}},
  {name: 'qwen3 Q8_0', type: 'Q8_0', model: {family: 'qwen3', ...square}},
  {
    name: 'qwen3_5_text Q8_0 with three values per key',
    type: 'Q8_0',
    model: {
      ...square,
      family: 'qwen3_5_text',
      layers: 2,
      config: {linear_num_value_heads: 6, linear_key_head_dim: 32, linear_value_head_dim: 32},
    },
  },
  ...(
    [
      [{family: 'gemma2', window: 30, config: {query_pre_attn_scalar: 16}}, geluTable],
      [
        {
          family: 'gemma3_text',
          window: 30,
          ropeTheta: 100_000,
          ropeScaling: {rope_type: 'linear', factor: 8},
          config: {query_pre_attn_scalar: 16, rope_local_base_freq: 10_000},
        },
        geluTable,
      ],
      [{family: 'gemma4_text', window: 30, ropeTheta: 100_000}, geluTable],
      [{family: 'smollm3'}, exact],
      [{family: 'qwen3_moe', tied: false}, exact],
      [{family: 'olmo2', tied: false}, exact],
      [{family: 'granite'}, exact],
      [{family: 'ministral3', ropeScaling: growingQueries}, exact],
      [{family: 'lfm2'}, exact],
      [{family: 'qwen3_5_text', layers: 3, config: {linear_num_value_heads: 2}}, exact],
      [{family: 'qwen3_5_text', layers: 3, config: {linear_num_value_heads: 6}}, exact, ' with three values per key'],
      [{family: 'granitemoehybrid', config: {shared_intermediate_size: 96, mamba_d_head: 32}}, exact],
      [
        {
          family: 'phi3',
          ropeScaling: {...longRope, attention_factor: 1.25},
          config: {original_max_position_embeddings: 64, partial_rotary_factor: 0.75},
        },
        exact,
      ],
    ] as const satisfies readonly [Partial<TinyModel>, number, string?][]
  ).map(([model, tolerance, what = '']) => ({
    name: `${model.family}${what}`,
    type: 'F32' as const,
    model: {...small, ...model},
    tolerance,
  })),
]

/** The tokens after each of which the next one is predicted. */
export const answerTokens: readonly number[] = Array.from({length: 300}, (_, i) => (i * 73 + 11) % 256)

/** Writes one of the models. Models that differ only in their types have the same source. @returns the path of its file */
export async function writePeerModel(folder: string, {name, type, model}: PeerModel): Promise<string> {
  const source = join(folder, createHash('sha256').update(JSON.stringify(model)).digest('hex'))
  if (!existsSync(source)) await writeTinyModel(source, {layout: 'single', seed: 7, ...model})
  const file = join(folder, name, 'model.gguf')
  await mkdir(dirname(file))
  await writeGguf(file, source, {type})
  return file
}

/** Tokenizers that are compared with those of llama.cpp. That of Gemma writes no space before a text. */
export const peerTokenizers: readonly string[] = [
  ...['gpt-2', 'llama-bpe', 'qwen2', 'smollm', 'tekken', 'llama'],
  ...['gemma', 'gemma4', 'refact', 'dbrx', 'gpt-4o', 'lfm2', 'qwen35'],
]

/** Texts without special tokens and without characters that a normaliser changes. */
export const tokenizerTexts: readonly string[] = (
  JSON.parse(readFileSync(projectFile('test/fixtures/tokenizers/answers.json'), 'utf8')) as {texts: string[]}
).texts
  .filter((text) => !/[<\uFEFF\0]/.test(text) && text.normalize('NFC') === text && text !== '')
  .concat(
    "I'll say it's 12345 o'clock, DON'T",
    'a  b   c \n\n d\r\n\r\n\te',
    'AbsTaBs baTTs aAaA',
    '!!!...//!\n/\r\n 1. 2.3 (a1b2)',
    'é日é1日 aé\n',
  )

export const hashOfTokens = (ids: string): string => createHash('sha256').update(ids).digest('hex').slice(0, 8)

/** Merges of any two of these bytes, so that the boundaries between words decide about the tokens. */
const mergedBytes = [...Buffer.from("abstABT12 \n\r\t'.!/é日")]

/** Writes a model with a pre-tokenizer for byte pairs, or with a SentencePiece vocabulary for `llama` and `gemma`. */
export async function writeTokenizerModel(folder: string, name: string): Promise<string> {
  const {tokens, metadata} = vocabularyOf(name)
  const [hidden, key] = [32, (part: string) => `llama.${part}`]
  const u32 = (value: number) => ({u32: value})
  const tensor = (tensorName: string, ...shape: number[]) => {
    const data = new Uint8Array(shape.reduce((product, dim) => product * dim, 4))
    return {name: tensorName, type: 0, shape, data}
  }
  const square = ['attn_q', 'attn_k', 'attn_v', 'attn_output', 'ffn_gate', 'ffn_up', 'ffn_down']
  const file = join(folder, `${name}.gguf`)
  const bytes = ggufFile(
    {
      'general.architecture': {text: 'llama'},
      [key('context_length')]: u32(512),
      [key('embedding_length')]: u32(hidden),
      [key('block_count')]: u32(1),
      [key('feed_forward_length')]: u32(hidden),
      [key('attention.head_count')]: u32(2),
      [key('attention.layer_norm_rms_epsilon')]: {f32: 1e-5},
      ...metadata,
    },
    [
      tensor('token_embd.weight', tokens, hidden),
      ...square.map((part) => tensor(`blk.0.${part}.weight`, hidden, hidden)),
      ...['blk.0.attn_norm', 'blk.0.ffn_norm', 'output_norm'].map((part) => tensor(`${part}.weight`, hidden)),
    ],
  )
  await writeFile(file, bytes)
  return file
}

function vocabularyOf(name: string): Vocabulary {
  if (name === 'llama') return pieces()
  if (name === 'gemma4') return mergedPieces()
  if (name !== 'gemma') return bytePairs(name)
  const {tokens, metadata} = pieces()
  return {tokens, metadata: {...metadata, 'tokenizer.ggml.add_space_prefix': {flag: false}}}
}

/** Pieces whose merges are in the file. */
function mergedPieces(): Vocabulary {
  const {tokens: count, metadata} = pieces()
  const entry = metadata['tokenizer.ggml.tokens']
  const tokens = entry !== undefined && 'texts' in entry ? entry.texts : []
  const merges = tokens.flatMap((token) => ([...token].length === 2 ? [[...token].join(' ')] : []))
  return {
    tokens: count,
    metadata: {
      ...metadata,
      'tokenizer.ggml.model': {text: 'gemma4'},
      'tokenizer.ggml.merges': {texts: [...merges, '▁t he', 'st a', 'ta b']},
      'tokenizer.ggml.add_space_prefix': {flag: false},
    },
  }
}

interface Vocabulary {
  tokens: number
  metadata: Record<string, GgufEntry>
}

function bytePairs(pre: string): Vocabulary {
  const letters = Array.from({length: 256}, (_, byte) => letterOf(byte))
  const pairs = mergedBytes.flatMap((first) =>
    mergedBytes.map((second) => [letterOf(first), letterOf(second)] as const),
  )
  const known = new Set<string>()
  const merges = pairs.filter(([first, second]) => !known.has(first + second) && known.add(first + second))
  const tokens = [...letters, ...merges.map((pair) => pair.join('')), '<end>']
  return {
    tokens: tokens.length,
    metadata: {
      'tokenizer.ggml.model': {text: 'gpt2'},
      'tokenizer.ggml.pre': {text: pre},
      'tokenizer.ggml.tokens': {texts: tokens},
      'tokenizer.ggml.token_type': {integers: tokens.map((_, id) => (id === tokens.length - 1 ? 3 : 1))},
      'tokenizer.ggml.merges': {texts: merges.map((pair) => pair.join(' '))},
      'tokenizer.ggml.bos_token_id': {u32: tokens.length - 1},
      'tokenizer.ggml.eos_token_id': {u32: tokens.length - 1},
    },
  }
}

const bytesByLetter = Array.from({length: 128}, (_, byte) => inByteAlphabet(String.fromCharCode(byte)))

/** The character of GPT-2's alphabet for a byte. */
function letterOf(byte: number): string {
  if (byte < 128) return bytesByLetter[byte] as string
  // The second byte of a character of two bytes, or the first byte of one.
  return byte < 0xc0 ? (inByteAlphabet(Buffer.of(0xc2, byte).toString())[1] as string) : (letterOfLead(byte) as string)
}

/** Bytes that start a character; those that start none are printable characters of their own. */
const letterOfLead = (byte: number) => String.fromCharCode(byte)

function pieces(): Vocabulary {
  const bytes = Array.from({length: 256}, (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, '0')}>`)
  const characters = [...'▁abstAB12.é日']
  const pairs = characters.flatMap((first) => characters.map((second) => first + second))
  const words = ['▁the', 'the', 'he', '▁t', 'h', 'e', 'sta', 'tab', '▁▁▁▁']
  const texts = [...new Set([...characters, ...pairs, ...words])]
  const tokens = ['<unk>', '<s>', '</s>', ...bytes, ...texts]
  return {
    tokens: tokens.length,
    metadata: {
      'tokenizer.ggml.model': {text: 'llama'},
      'tokenizer.ggml.tokens': {texts: tokens},
      'tokenizer.ggml.token_type': {integers: tokens.map((_, id) => [2, 3, 3][id] ?? (id < 259 ? 6 : 1))},
      'tokenizer.ggml.scores': {floats: tokens.map((_, id) => (id < 259 ? 0 : 259 - id))},
      'tokenizer.ggml.bos_token_id': {u32: 1},
      'tokenizer.ggml.eos_token_id': {u32: 2},
      'tokenizer.ggml.unknown_token_id': {u32: 0},
    },
  }
}
