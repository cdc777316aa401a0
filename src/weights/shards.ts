import {existsSync} from 'node:fs'
import {readdir, realpath} from 'node:fs/promises'
import {basename, dirname, join, sep} from 'node:path'
import {SvcError} from '../errors/index.js'
import {weightsMissing} from './foreign-format.js'
import {readJsonObject} from './json-file.js'
import {readSafetensorsHeader, type TensorEntry} from './safetensors.js'

/** Tensors by name. */
export type TensorMap = ReadonlyMap<string, TensorEntry>

const indexFile = 'model.safetensors.index.json'
const singleFile = 'model.safetensors'
const numbered = /^model-(\d+)-of-(\d+)\.safetensors$/

/** Possible paths of the weights in a directory, in search order. */
export const shardPlaces = (path: string): string[] =>
  [indexFile, singleFile, 'model-*-of-*.safetensors'].map((file) => join(path, file))

/** Whether a directory contains safetensors weights. */
export async function hasShards(path: string): Promise<boolean> {
  if (existsSync(join(path, indexFile)) || existsSync(join(path, singleFile))) return true
  return (await readdir(path)).some((name) => numbered.test(name))
}

/**
 * Reads the tensors of all shards in a directory. An index determines the shard of each tensor; without one,
 * `model.safetensors` or the numbered shards are read in order, and the first shard with a tensor wins.
 * @throws shard_missing, tensor_missing, safetensors_invalid, model_file_invalid, model_file_missing
 */
export async function readShards(path: string): Promise<TensorMap> {
  const index = join(path, indexFile)
  if (existsSync(index)) return readIndexed(path, index)
  const tensors = new Map<string, TensorEntry>()
  for (const file of await unindexedShards(path))
    for (const [name, entry] of await readTensorMap(file)) if (!tensors.has(name)) tensors.set(name, entry)
  return tensors
}

/** Reads the tensors of one file. Links are resolved, so that the entries contain the real path. */
export async function readTensorMap(file: string): Promise<TensorMap> {
  const entries = await readSafetensorsHeader(await realpath(file))
  return new Map(entries.map((entry) => [entry.name, entry]))
}

async function readIndexed(path: string, index: string): Promise<TensorMap> {
  const {weight_map: map} = await readJsonObject(index)
  if (typeof map !== 'object' || map === null) throw invalidIndex(index, 'it has no weight_map')
  const shards = new Map<string, TensorMap>()
  const tensors = new Map<string, TensorEntry>()
  for (const [tensor, shard] of Object.entries(map)) {
    if (typeof shard !== 'string' || basename(shard) !== shard || shard === '..')
      throw invalidIndex(index, `the shard of ${tensor} must be a file name, not ${JSON.stringify(shard)}`)
    const entries = shards.get(shard) ?? (await readIndexedShard(path, shard, index))
    shards.set(shard, entries)
    const entry = entries.get(tensor)
    if (entry === undefined) throw new SvcError('tensor_missing', {tensor, files: [shard]})
    tensors.set(tensor, entry)
  }
  return tensors
}

async function readIndexedShard(path: string, shard: string, index: string): Promise<TensorMap> {
  const file = join(path, shard)
  if (!existsSync(file)) throw new SvcError('shard_missing', {shard, index})
  return readTensorMap(file)
}

const invalidIndex = (file: string, reason: string) => new SvcError('model_file_invalid', {file, reason})

async function unindexedShards(path: string): Promise<string[]> {
  const single = join(path, singleFile)
  if (existsSync(single)) return [single]
  const names = (await readdir(path)).filter((name) => numbered.test(name)).sort()
  const [first] = names
  if (first === undefined) throw await weightsMissing(path, shardPlaces(path))
  const [, digits = '', count = ''] = numbered.exec(first) ?? []
  for (let i = 1; i <= Number(count); i++) {
    const shard = `model-${String(i).padStart(digits.length, '0')}-of-${count}.safetensors`
    if (!names.includes(shard)) throw new SvcError('shard_missing', {shard, index: `the file name ${first}`})
  }
  return names.map((name) => join(path, name))
}

/** The deepest common folder of files. */
export function commonFolder(files: readonly string[]): string {
  const paths = files.map((file) => dirname(file).split(sep))
  const [first = []] = paths
  const depth = first.findIndex((part, i) => paths.some((path) => path[i] !== part))
  return (depth === -1 ? first : first.slice(0, depth)).join(sep) || sep
}
