import {readFile} from 'node:fs/promises'
import {GraphBuilder, type Value} from '../../src/onnx/index.js'
import {digitTokenizer} from './micro-whisper.js'
import {type FileTensor, floatBytes, safetensorsFile} from './safetensors-file.js'
import {writeFiles} from './temporary.js'
import {type WhisperShape, type WhisperWeights, whisperConfig} from './whisper-weights.js'

/** The weights of a 32-bit float safetensors file, read without the code under test. */
export async function readWeights(file: string): Promise<WhisperWeights> {
  const bytes = await readFile(file)
  const start = 8 + Number(bytes.readBigUInt64LE(0))
  const header = JSON.parse(bytes.toString('utf8', 8, start)) as Record<
    string,
    {dtype: string; shape: number[]; data_offsets: [number, number]}
  >
  return new Map(
    Object.entries(header)
      .filter(([name]) => name !== '__metadata__')
      .map(
        ([
          name,
          {
            shape,
            data_offsets: [from, to],
          },
        ]) => {
          const data = new Float32Array(
            bytes.buffer.slice(bytes.byteOffset + start + from, bytes.byteOffset + start + to),
          )
          return [name, {shape, data}]
        },
      ),
  )
}

/** A model directory in Hugging Face layout with a ten-word tokenizer. */
export async function writeWhisperFolder(
  folder: string,
  shape: WhisperShape,
  weights: WhisperWeights,
  dtype: 'F32' | 'F16' | 'BF16' = 'F32',
  tokenizer: object = digitTokenizer,
): Promise<void> {
  const tensors: Record<string, FileTensor> = {}
  for (const [name, {shape: dims, data}] of weights) tensors[name] = {dtype, shape: dims, data: floatBytes(data, dtype)}
  await writeFiles(folder, {
    'config.json': JSON.stringify(whisperConfig(shape)),
    'tokenizer.json': JSON.stringify(tokenizer),
    'model.safetensors': safetensorsFile(tensors),
  })
}

const ggmlNames: readonly (readonly [RegExp, string])[] = [
  [/^model\./, ''],
  [/layers/, 'blocks'],
  [/encoder_attn_layer_norm/, 'cross_attn_ln'],
  [/self_attn_layer_norm/, 'attn_ln'],
  [/final_layer_norm/, 'mlp_ln'],
  [/encoder_attn/, 'cross_attn'],
  [/self_attn/, 'attn'],
  [/q_proj/, 'query'],
  [/k_proj/, 'key'],
  [/v_proj/, 'value'],
  [/out_proj/, 'out'],
  [/fc1/, 'mlp.0'],
  [/fc2/, 'mlp.2'],
  [/encoder\.layer_norm/, 'encoder.ln_post'],
  [/decoder\.layer_norm/, 'decoder.ln'],
  [/embed_tokens/, 'token_embedding'],
  [/embed_positions\.weight/, 'positional_embedding'],
]

/** Storage types of matrices in a whisper.cpp file: the type number and the encoding. */
export interface GgmlEncoding {
  type: number
  encode: (values: Float32Array) => Uint8Array
}

export const ggmlFloats: GgmlEncoding = {type: 0, encode: (values) => floatBytes(values, 'F32')}
export const ggmlHalves: GgmlEncoding = {type: 1, encode: (values) => floatBytes(values, 'F16')}

/** A whisper.cpp file with weights and tokens. */
export function ggmlFile(
  shape: WhisperShape,
  weights: WhisperWeights,
  tokens: readonly string[],
  matrices: GgmlEncoding = ggmlFloats,
  convolutions: GgmlEncoding = ggmlFloats,
): Buffer {
  const {size, layers, heads, vocabulary, bins, audio, text} = shape
  const pieces: Uint8Array[] = []
  const integers = (...values: number[]) => {
    const bytes = Buffer.alloc(4 * values.length)
    for (const [i, value] of values.entries()) bytes.writeInt32LE(value, 4 * i)
    pieces.push(bytes)
  }
  integers(0x67676d6c, vocabulary, audio, size, heads, layers, text, size, heads, layers, bins, 1)
  integers(bins, 201)
  pieces.push(new Uint8Array(4 * bins * 201))
  integers(tokens.length)
  for (const token of tokens) {
    integers(Buffer.byteLength(token))
    pieces.push(Buffer.from(token))
  }
  for (const [name, {shape: dims, data}] of weights) {
    const written = ggmlNames.reduce((current, [from, to]) => current.replace(from, to), name)
    const matrix = dims.length === 2 && dims[1]! % 32 === 0 && !written.includes('positional')
    const {type, encode} = matrix ? matrices : dims.length === 3 ? convolutions : ggmlFloats
    const stored = /conv\d\.bias/.test(written) ? [...dims, 1] : dims
    integers(stored.length, Buffer.byteLength(written), type, ...[...stored].reverse())
    pieces.push(Buffer.from(written), encode(data))
  }
  return Buffer.concat(pieces)
}

export interface ExportOptions {
  /** A merged decoder with a switch input, or two files. */
  layout: 'merged' | 'merged-without-switch' | 'split'
  /** Whether the decoder outputs its cross-attention. */
  attentions: boolean
}

/** An ONNX export in the layout of Optimum, written with plain operators. */
export async function writeWhisperExport(
  folder: string,
  shape: WhisperShape,
  weights: WhisperWeights,
  {layout, attentions}: ExportOptions,
): Promise<void> {
  const decoders: Record<string, Uint8Array> =
    layout === 'split'
      ? {
          'onnx/decoder_model.onnx': decoderGraph(shape, weights, {past: false, switched: false, attentions}),
          'onnx/decoder_with_past_model.onnx': decoderGraph(shape, weights, {past: true, switched: false, attentions}),
        }
      : {
          'onnx/decoder_model_merged.onnx': decoderGraph(shape, weights, {
            past: true,
            switched: layout === 'merged',
            attentions,
          }),
        }
  await writeFiles(folder, {
    'config.json': JSON.stringify(whisperConfig(shape)),
    'tokenizer.json': JSON.stringify(digitTokenizer),
    'onnx/encoder_model.onnx': encoderGraph(shape, weights),
    ...decoders,
  })
}

/** Operators over named weights. */
class Layers {
  readonly graph: GraphBuilder
  readonly #weights: WhisperWeights
  readonly #shape: WhisperShape
  #scalars = 0

  constructor(name: string, shape: WhisperShape, weights: WhisperWeights) {
    this.graph = new GraphBuilder(name)
    this.#weights = weights
    this.#shape = shape
  }

  weight(name: string): Value {
    const {shape, data} = this.#weights.get(name) as {shape: readonly number[]; data: Float32Array}
    return this.graph.constant(name, 'float32', shape, data)
  }

  scalar(value: number): Value {
    return this.graph.constant(`scalar.${this.#scalars++}`, 'float32', [], Float32Array.of(value))
  }

  whole(value: number): Value {
    return this.graph.constant(`whole.${this.#scalars++}`, 'int64', [], BigInt64Array.of(BigInt(value)))
  }

  norm(x: Value, name: string): Value {
    return this.graph.node('LayerNormalization', [x, this.weight(`${name}.weight`), this.weight(`${name}.bias`)], {
      axis: -1,
      epsilon: {float: 1e-5},
    })
  }

  linear(x: Value, name: string): Value {
    const turned = this.graph.node('Transpose', [this.weight(`${name}.weight`)], {perm: [1n, 0n]})
    const product = this.graph.node('MatMul', [x, turned])
    if (!this.#weights.has(`${name}.bias`)) return product
    return this.graph.node('Add', [product, this.weight(`${name}.bias`)])
  }

  gelu(x: Value): Value {
    const error = this.graph.node('Erf', [this.graph.node('Div', [x, this.scalar(Math.SQRT2)])])
    const half = this.graph.node('Mul', [x, this.scalar(0.5)])
    return this.graph.node('Mul', [half, this.graph.node('Add', [error, this.scalar(1)])])
  }

  feedForward(x: Value, layer: string): Value {
    return this.linear(this.gelu(this.linear(x, `${layer}.fc1`)), `${layer}.fc2`)
  }

  /** `[rows, n, size]` as `[rows, heads, n, size / heads]`. */
  split(x: Value): Value {
    const {heads, size} = this.#shape
    const parts = this.graph.node('Reshape', [x, this.graph.integers(0, 0, heads, size / heads)])
    return this.graph.node('Transpose', [parts], {perm: [0n, 2n, 1n, 3n]})
  }

  /** softmax(q k / sqrt(d) + mask) and its product with v, as `[rows, n, size]`. */
  attend(q: Value, k: Value, v: Value, mask?: Value): {weights: Value; context: Value} {
    const {heads, size} = this.#shape
    const turned = this.graph.node('Transpose', [k], {perm: [0n, 1n, 3n, 2n]})
    const product = this.graph.node('MatMul', [q, turned])
    const scores = this.graph.node('Mul', [product, this.scalar(1 / Math.sqrt(size / heads))])
    const masked = mask === undefined ? scores : this.graph.node('Add', [scores, mask])
    const weights = this.graph.node('Softmax', [masked], {axis: -1})
    const mixed = this.graph.node('Transpose', [this.graph.node('MatMul', [weights, v])], {perm: [0n, 2n, 1n, 3n]})
    return {weights, context: this.graph.node('Reshape', [mixed, this.graph.integers(0, 0, size)])}
  }

  add(x: Value, y: Value): Value {
    return this.graph.node('Add', [x, y])
  }

  /** A dimension of a tensor, as a scalar. */
  dimension(x: Value, axis: number): Value {
    const size = this.graph.node('Gather', [this.graph.node('Shape', [x]), this.whole(axis)], {axis: 0})
    return size
  }
}

function encoderGraph(shape: WhisperShape, weights: WhisperWeights): Uint8Array {
  const layers = new Layers('encoder', shape, weights)
  const {graph} = layers
  const mel = graph.input('input_features', 'float32', ['batch', shape.bins, 'frames'])
  const convolve = (x: Value, name: string, stride: bigint) =>
    layers.gelu(
      graph.node('Conv', [x, layers.weight(`${name}.weight`), layers.weight(`${name}.bias`)], {
        kernel_shape: [3n],
        pads: [1n, 1n],
        strides: [stride],
      }),
    )
  const convolved = convolve(convolve(mel, 'model.encoder.conv1', 1n), 'model.encoder.conv2', 2n)
  let x = layers.add(
    graph.node('Transpose', [convolved], {perm: [0n, 2n, 1n]}),
    layers.weight('model.encoder.embed_positions.weight'),
  )
  for (let i = 0; i < shape.layers; i++) {
    const name = `model.encoder.layers.${i}`
    const normed = layers.norm(x, `${name}.self_attn_layer_norm`)
    const [q, k, v] = ['q_proj', 'k_proj', 'v_proj'].map((projection) =>
      layers.split(layers.linear(normed, `${name}.self_attn.${projection}`)),
    ) as [Value, Value, Value]
    x = layers.add(x, layers.linear(layers.attend(q, k, v).context, `${name}.self_attn.out_proj`))
    x = layers.add(x, layers.feedForward(layers.norm(x, `${name}.final_layer_norm`), name))
  }
  graph.output('last_hidden_state', layers.norm(x, 'model.encoder.layer_norm'), 'float32', ['batch', 'n', shape.size])
  return graph.build()
}

function decoderGraph(
  shape: WhisperShape,
  weights: WhisperWeights,
  {past, switched, attentions}: {past: boolean; switched: boolean; attentions: boolean},
): Uint8Array {
  const layers = new Layers('decoder', shape, weights)
  const {graph} = layers
  const headDim = shape.size / shape.heads
  const cacheDims = ['batch', shape.heads, 'past', headDim]
  const ids = graph.input('input_ids', 'int64', ['batch', 'n'])
  const states = graph.input('encoder_hidden_states', 'float32', ['batch', 'positions', shape.size])
  const feed = (name: string) => graph.input(`past_key_values.${name}`, 'float32', cacheDims)
  const caches = Array.from({length: shape.layers}, (_, i) =>
    past
      ? {
          key: feed(`${i}.decoder.key`),
          value: feed(`${i}.decoder.value`),
          crossKey: feed(`${i}.encoder.key`),
          crossValue: feed(`${i}.encoder.value`),
        }
      : undefined,
  )
  if (switched) graph.output('branch', graph.input('use_cache_branch', 'bool', [1]), 'bool', [1])
  const length = caches[0] === undefined ? layers.whole(0) : layers.dimension(caches[0].key, 2)
  const time = layers.dimension(ids, 1)
  const total = layers.add(length, time)
  const one = layers.whole(1)
  const places = graph.node('Range', [length, total, one])
  const columns = graph.node('Range', [layers.whole(0), total, one])
  const visible = graph.node('LessOrEqual', [columns, graph.node('Unsqueeze', [places, graph.integers(1)])])
  const mask = graph.node('Where', [visible, layers.scalar(0), layers.scalar(-1e9)])
  const embedding = layers.weight('model.decoder.embed_tokens.weight')
  let x = layers.add(
    graph.node('Gather', [embedding, ids], {axis: 0}),
    graph.node('Gather', [layers.weight('model.decoder.embed_positions.weight'), places], {axis: 0}),
  )
  for (const [i, cache] of caches.entries()) {
    const name = `model.decoder.layers.${i}`
    const project = (from: Value, attention: string, projection: string) =>
      layers.split(layers.linear(from, `${name}.${attention}.${projection}`))
    const joined = (before: Value | undefined, now: Value) =>
      before === undefined ? now : graph.node('Concat', [before, now], {axis: 2})
    const normed = layers.norm(x, `${name}.self_attn_layer_norm`)
    const key = joined(cache?.key, project(normed, 'self_attn', 'k_proj'))
    const value = joined(cache?.value, project(normed, 'self_attn', 'v_proj'))
    const own = layers.attend(project(normed, 'self_attn', 'q_proj'), key, value, mask)
    x = layers.add(x, layers.linear(own.context, `${name}.self_attn.out_proj`))

    // The cached result of the first step precedes the recomputed one and must be used.
    const positions = graph.node('Unsqueeze', [layers.dimension(states, 1), graph.integers(0)])
    const kept = (before: Value | undefined, projection: string) =>
      graph.node('Slice', [
        joined(before, project(states, 'encoder_attn', projection)),
        graph.integers(0),
        positions,
        graph.integers(2),
      ])
    const crossKey = kept(cache?.crossKey, 'k_proj')
    const crossValue = kept(cache?.crossValue, 'v_proj')
    const query = project(layers.norm(x, `${name}.encoder_attn_layer_norm`), 'encoder_attn', 'q_proj')
    const cross = layers.attend(query, crossKey, crossValue)
    x = layers.add(x, layers.linear(cross.context, `${name}.encoder_attn.out_proj`))
    x = layers.add(x, layers.feedForward(layers.norm(x, `${name}.final_layer_norm`), name))

    // Later steps output zeros for the encoder part. The cached branch of real exports outputs arbitrary values.
    const first = graph.node('Cast', [graph.node('Equal', [length, layers.whole(0)])], {to: 1})
    const outputs = {
      'decoder.key': key,
      'decoder.value': value,
      'encoder.key': graph.node('Mul', [crossKey, first]),
      'encoder.value': graph.node('Mul', [crossValue, first]),
    }
    for (const [part, output] of Object.entries(outputs))
      graph.output(`present.${i}.${part}`, output, 'float32', cacheDims)
    if (attentions)
      graph.output(`cross_attentions.${i}`, cross.weights, 'float32', ['batch', shape.heads, 'n', 'positions'])
  }
  const logits = graph.node('MatMul', [
    layers.norm(x, 'model.decoder.layer_norm'),
    graph.node('Transpose', [embedding], {perm: [1n, 0n]}),
  ])
  graph.output('logits', logits, 'float32', ['batch', 'n', shape.vocabulary])
  return graph.build()
}

/** Tokens of a whisper.cpp file for the ten words; tokens in brackets are special. */
export const ggmlTokens = [
  ...Object.keys(digitTokenizer.model.vocab)
    .slice(0, 10)
    .map((token) => token.replace('Ġ', ' ')),
  '<|startoftranscript|>',
  '<|endoftext|>',
  ' ',
]
