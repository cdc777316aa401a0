import {existsSync} from 'node:fs'
import {open, realpath} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import {counted, SvcError} from '../../errors/index.js'
import {blockTypeOf, isBlockDtype} from '../block-types.js'
import type {Declarations} from '../declarations.js'
import {isWidened} from '../dtype.js'
import {elements, type TensorEntry} from '../safetensors.js'
import type {StoredOrder} from '../stored-order.js'
import {readTensorFloat32, weightBytes} from '../weight-rows.js'
import {type Architecture, architectureOf, ggufArchitectures} from './architectures.js'
import {configOf, ownKeys} from './config.js'
import {
  type GgufHeader,
  type GgufMetadata,
  type GgufTensor,
  ggufInvalid,
  ggufUnsupported,
  readGgufHeader,
} from './header.js'
import {type HeadSizes, layoutOf, publishedShape} from './layout.js'
import {divisorTensors, transformersName} from './names.js'
import {sampling} from './sampling.js'
import {tensorTypeName} from './tensor-types.js'
import {tokenizerOf} from './tokenizer.js'

/** A model in GGUF files, with the names and the layout of transformers. Weights are not read yet. */
export interface GgufModel {
  tensors: ReadonlyMap<string, TensorEntry>
  /** As `config.json`. */
  config: Readonly<Record<string, unknown>>
  /** As `tokenizer.json`. @throws gguf_invalid, tokenizer_unsupported */
  tokenizer(): Readonly<Record<string, unknown>>
  /** What it says about text and generation. */
  declarations(): Declarations
  /** Name of the licence. */
  license: string | undefined
  /** What a file with other weights of the same model needs. */
  source: GgufSourceFile
}

export interface GgufSourceFile {
  architecture: Architecture
  heads: HeadSizes
  /** The divisors of rotary frequencies, by their names in llama.cpp. */
  divisors: readonly TensorEntry[]
  alignment: number
  /** The entries of the metadata with their keys, as in the file, without those of split models. */
  readEntries(): Promise<Map<string, Buffer>>
}

/** Name of a part of a split model. */
const part = /-(\d{5})-of-(\d{5})\.gguf$/

/** Also the file of a model in Ollama's store, whose name is its digest. */
export const isGgufName = (name: string): boolean => /\.gguf$|[\\/]blobs[\\/]sha256-[0-9a-f]{64}$/i.test(name)

/** The name of a model, from the path of its file. */
export const ggufModelName = (file: string): string =>
  basename(file)
    .replace(part, '')
    .replace(/\.gguf$/i, '')

/** The GGUF files in a list of names that are models of language: split models by their first part, no projectors. */
export const ggufModels = (names: readonly string[]): string[] =>
  names.filter((name) => {
    const [, number = '00001'] = part.exec(name) ?? []
    return isGgufName(name) && number === '00001' && !/(^|\/)mmproj/i.test(name)
  })

/** All files of a model that a name stands for, which may be the first part of a split one. */
export function ggufParts(name: string): string[] {
  const [, , count] = part.exec(name) ?? []
  if (count === undefined) return [name]
  const digits = (i: number) => String(i).padStart(5, '0')
  return Array.from({length: Number(count)}, (_, i) => name.replace(part, `-${digits(i + 1)}-of-${count}.gguf`))
}

/**
 * Reads the headers of a GGUF file, or of all parts of a split model by its first one.
 * @throws gguf_invalid, gguf_unsupported, shard_missing, model_family_unknown, lfs_pointer, file_not_found,
 *   file_unreadable
 */
export async function readGguf(file: string): Promise<GgufModel> {
  const [first, ...others] = await readParts(file)
  const {metadata} = first
  const name = metadata.get('general.architecture')
  if (typeof name !== 'string') throw ggufInvalid(file, 'it has no general.architecture')
  const architecture = architectureOf(name, metadata)
  if (architecture === undefined)
    throw new SvcError('model_family_unknown', {file, family: name, known: ggufArchitectures})
  const refused = architecture.refused?.(ownKeys(metadata))
  if (refused !== undefined) throw ggufUnsupported(file, refused)
  const found = [first, ...others].flatMap(({file: each, size, tensors}) =>
    tensors.map((tensor) => entryOf(each, tensor, size)),
  )
  const divisors = new Map(
    Object.entries(divisorTensors).map(([kind, tensor]) => [kind, found.find((entry) => entry.name === tensor)]),
  )
  const readDivisors = async (kind: keyof typeof divisorTensors) => {
    const entry = divisors.get(kind)
    return entry && [...(await readTensorFloat32(entry))]
  }
  const plain = found
    .filter((entry) => ![...divisors.values()].includes(entry))
    .flatMap((entry) => {
      const own = transformersName(entry.name, architecture)
      if (own === undefined) throw ggufUnsupported(entry.file, `the tensor ${entry.name}`)
      return own.includes('*') ? expertsOf(entry, own) : [{...entry, name: own}]
    })
  const vocabSize = plain.find(({name}) => name === 'model.embed_tokens.weight')?.shape[0] ?? 0
  const config = configOf(metadata, architecture, {
    vocabSize,
    hasBias: plain.some(({name}) => name.endsWith('self_attn.q_proj.bias')),
    divisors: {all: await readDivisors('all'), short: await readDivisors('short'), long: await readDivisors('long')},
  })
  const sizes = headSizes(config)
  const entries = plain.map((entry): TensorEntry => {
    const layout = layoutOf(entry.name, architecture, sizes)
    refuseIncomplete(entry, layout.order)
    return {...entry, shape: publishedShape(entry), ...layout}
  })
  const license = metadata.get('general.license')
  let tokenizer: ReturnType<typeof tokenizerOf> | undefined
  const read = () => {
    tokenizer ??= tokenizerOf(file, metadata)
    return tokenizer
  }
  return {
    tensors: new Map(entries.map((entry) => [entry.name, entry])),
    config,
    tokenizer: () => read().json,
    declarations: () => declarationsOf(file, metadata, read()),
    license: typeof license === 'string' ? license : undefined,
    source: {
      architecture,
      heads: sizes,
      divisors: [...divisors.values()].filter((entry) => entry !== undefined),
      alignment: first.alignment,
      readEntries: () => readEntries(first),
    },
  }
}

interface Part extends GgufHeader {
  file: string
}

async function readEntries({file, places}: Part): Promise<Map<string, Buffer>> {
  const entries = new Map<string, Buffer>()
  const handle = await open(file)
  try {
    for (const [key, [start, end]] of places) {
      if (key.startsWith('split.')) continue
      const bytes = Buffer.allocUnsafe(end - start)
      const {bytesRead} = await handle.read(bytes, 0, bytes.length, start)
      if (bytesRead < bytes.length) throw ggufInvalid(file, `it ends within the metadata ${key}`)
      entries.set(key, bytes)
    }
  } finally {
    await handle.close()
  }
  return entries
}

/** The part from which the others are found precedes them. Links are resolved, so that entries have the real path. */
async function readParts(file: string): Promise<[Part, ...Part[]]> {
  const read = async (path: string): Promise<Part> => {
    const target = await realpath(path).catch((error: unknown) => {
      throw SvcError.from(error)
    })
    return {file: target, ...(await readGgufHeader(target))}
  }
  const first = await read(file)
  const count = first.metadata.get('split.count') ?? 1
  const number = first.metadata.get('split.no') ?? 0
  if (count === 1) return [first]
  const names = ggufParts(basename(file))
  if (names.length !== count) throw ggufInvalid(file, `it is one of ${count} parts, but its name does not say which`)
  if (number !== 0) throw ggufInvalid(file, `it is part ${Number(number) + 1} of ${count}; the first is ${names[0]}`)
  const others: Part[] = []
  for (const name of names.slice(1)) {
    const path = join(dirname(file), name)
    if (!existsSync(path)) throw new SvcError('shard_missing', {shard: name, index: basename(file)})
    others.push(await read(path))
  }
  return [first, ...others]
}

/** @throws gguf_unsupported, gguf_invalid */
function entryOf(file: string, {name, type, shape, offset}: GgufTensor, size: number): TensorEntry {
  const dtype = tensorTypeName(type)
  if (!isWidened(dtype) && !isBlockDtype(dtype)) throw ggufUnsupported(file, `the type ${dtype} (tensor ${name})`)
  const length = weightBytes(dtype, elements(shape))
  if (isBlockDtype(dtype) && (shape.at(-1) ?? 1) % blockTypeOf(dtype).weights !== 0)
    throw ggufInvalid(file, `the rows of the tensor ${name} are not complete blocks of the type ${dtype}`)
  if (offset + length > size)
    throw ggufInvalid(
      file,
      `the tensor ${name} is in the bytes ${offset} to ${offset + length}, but the file has ${size}; it is not complete`,
    )
  return {name, dtype, shape, file, offset, length}
}

/** The matrices of experts, which are in one tensor. */
function expertsOf(entry: TensorEntry, name: string): TensorEntry[] {
  const [count = 0, ...shape] = entry.shape
  const length = entry.length / count
  return Array.from({length: count}, (_, i) => ({
    ...entry,
    name: name.replace('*', String(i)),
    shape,
    offset: entry.offset + i * length,
    length,
  }))
}

function headSizes(config: Readonly<Record<string, unknown>>): HeadSizes {
  const size = (key: string) => Number(config[key])
  return {
    headDim: Number(config.head_dim ?? size('hidden_size') / size('num_attention_heads')),
    delta:
      'linear_num_value_heads' in config
        ? {
            keyHeads: size('linear_num_key_heads'),
            keyDim: size('linear_key_head_dim'),
            valueHeads: size('linear_num_value_heads'),
            valueDim: size('linear_value_head_dim'),
          }
        : undefined,
    groups: 'mamba_n_groups' in config ? size('mamba_n_groups') : undefined,
  }
}

/** @throws gguf_invalid if the heads are not complete; gguf_unsupported if blocks contain parts of several heads */
function refuseIncomplete({name, file, dtype, shape}: TensorEntry, order: StoredOrder | undefined): void {
  if (order === undefined) return
  const {axis, skip, outer, inner, unit} = order
  const run = outer * inner * unit
  const count = (axis === 'rows' ? (shape[0] ?? 0) : (shape.at(-1) ?? 0)) - skip
  if (!Number.isSafeInteger(outer) || !(run > 0) || count < 0 || count % run !== 0)
    throw ggufInvalid(
      file,
      `the tensor ${name} has ${counted(count + skip, axis === 'rows' ? 'row' : 'column')}, which are not complete heads`,
    )
  if (axis === 'columns' && isBlockDtype(dtype) && unit % blockTypeOf(dtype).group !== 0)
    throw ggufUnsupported(file, `heads of ${unit} values in blocks of the type ${dtype} (tensor ${name})`)
}

function declarationsOf(
  file: string,
  metadata: GgufMetadata,
  {settings, ends}: ReturnType<typeof tokenizerOf>,
): Declarations {
  const template = metadata.get('tokenizer.chat_template')
  const recommended = Object.entries(sampling).flatMap(([key, name]) =>
    metadata.has(key) ? [[name, metadata.get(key)] as const] : [],
  )
  return {
    tokenizer: settings,
    generation: {...Object.fromEntries(recommended), ...(ends.length === 0 ? {} : {eos_token_id: ends})},
    ...(template === undefined ? {} : {template: {declared: template, file}}),
  }
}
