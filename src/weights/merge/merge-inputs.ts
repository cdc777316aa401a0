import {existsSync} from 'node:fs'
import {stat} from 'node:fs/promises'
import {dirname, extname, join, resolve} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {isFolder} from '../../files/index.js'
import {
  type Adapter,
  type AdapterManifest,
  findAdapterWeights,
  readAdapter,
  readAdapterManifest,
  readManifestFile,
} from '../adapter.js'
import {isGgufName} from '../gguf/gguf-file.js'
import {findRun, weightsPlace} from '../run-directory.js'
import {readShards, readTensorMap, type TensorMap} from '../shards.js'
import {type GgufBase, openGgufBase} from './gguf-base.js'

/** A further adapter, and the factor of its update. */
export interface MergeAdapter {
  /** A run directory or the weights in one, relative to `cwd`. */
  path: string
  weight: number
}

/**
 * Input of a merge: a run directory, or individual files; and further adapters for the same base model. Paths are relative to
 * `cwd`.
 */
export type MergeSource = {
  /** Factor of the update of the run or the adapter; default 1. */
  weight?: number
  others?: readonly MergeAdapter[]
  ignoreEvalGate?: boolean
  ignoreConfigKeys?: readonly string[]
  cacheFolder?: string | undefined
  cwd: string
} & (
  | {
      run: string
      /** Takes precedence over the base model in the manifest. */
      base?: string | undefined
    }
  | {
      /** Shards of the base model, where the first one with a tensor wins; or the folder of the base model. */
      base: {shards: readonly string[]} | {folder: string}
      adapter: string
      /** The adapter's manifest; default: the one in the folder of the adapter. */
      meta: string | undefined
    }
)

/** An adapter to merge. */
export interface MergedAdapter {
  adapter: Adapter
  manifest: AdapterManifest
  weight: number
}

/** Validated inputs of a merge. */
export interface MergeInputs {
  base: TensorMap
  /** At least one. */
  adapters: readonly MergedAdapter[]
  /** Path or id of the base model. */
  baseModel: string
  /** Folders searched for configuration and tokenizer, in this order; the first one is that of the first run. */
  folders: readonly string[]
  /** Set if the base model is a GGUF file; its folder is the last one. */
  gguf: GgufBase | undefined
}

/**
 * Finds and validates the inputs of a merge.
 * @throws file_not_found, file_unreadable, adapter_missing, adapter_legacy, adapter_invalid, adapter_tensor_missing,
 *   merge_families, safetensors_invalid; what `findRun` throws
 */
export async function readMergeInputs(source: MergeSource): Promise<MergeInputs> {
  const found = 'run' in source ? await fromRun(source) : await fromFiles(source)
  const {manifest, weights, base, folders, gguf} = found
  try {
    const first = {adapter: await readAdapter(weights, manifest), manifest, weight: source.weight ?? 1}
    const others: MergedAdapter[] = []
    for (const other of source.others ?? []) others.push(await readOther(other, source, found))
    const baseModel = await baseModelOf(manifest, folders, source.cwd)
    const adapters = [first, ...others]
    return {base, adapters, baseModel, folders: [...folders, ...(gguf ? [gguf.folder] : [])], gguf}
  } catch (error) {
    await gguf?.remove()
    throw error
  }
}

/** Reads a further adapter, whatever its manifest says about its base model. */
async function readOther(
  {path, weight}: MergeAdapter,
  {cwd, ignoreEvalGate, ignoreConfigKeys = []}: MergeSource,
  {basePath}: Found,
): Promise<MergedAdapter> {
  const place = resolve(cwd, path)
  if (!(await isFolder(place))) {
    await refuseMissing(place)
    const manifest = await readManifest(place, undefined, ignoreConfigKeys)
    refuseMixedFamilies(manifest)
    return {adapter: await readAdapter(place, manifest), manifest, weight}
  }
  const lookup = {base: basePath, ignoreEvalGate, ignoreConfigKeys, cwd}
  const {manifest, weights, merged} = await findRun(place, lookup)
  if (manifest === undefined || weights === undefined)
    throw new SvcError('merge_adapter_missing', {path: place, isMerged: merged !== undefined})
  refuseMixedFamilies(manifest)
  return {adapter: await readAdapter(weights, manifest), manifest, weight}
}

/** Returns an absolute path for a folder, because the output is not in the folder of the manifest. */
async function baseModelOf({baseModel}: AdapterManifest, folders: readonly string[], cwd: string): Promise<string> {
  if (baseModel === undefined) return 'unknown'
  for (const from of [...folders, cwd]) if (await isFolder(resolve(from, baseModel))) return resolve(from, baseModel)
  return baseModel
}

interface Found {
  manifest: AdapterManifest
  weights: string
  base: TensorMap
  folders: readonly string[]
  /** Folder or GGUF file of the base model. */
  basePath: string
  gguf?: GgufBase
}

async function fromRun(source: Extract<MergeSource, {run: string}>): Promise<Found> {
  const {path, basePath, manifest, weights, merged} = await findRun(source.run, source)
  if (manifest === undefined || weights === undefined)
    throw new SvcError('merge_adapter_missing', {path, isMerged: merged !== undefined})
  refuseMixedFamilies(manifest)
  if (isGgufName(basePath)) return {manifest, weights, ...(await fromGguf(basePath)), basePath, folders: [path]}
  return {manifest, weights, base: await readShards(basePath), basePath, folders: [...new Set([path, basePath])]}
}

async function fromGguf(file: string): Promise<Pick<Found, 'base' | 'gguf'>> {
  const gguf = await openGgufBase(file)
  return {base: gguf.tensors, gguf}
}

async function fromFiles(source: Exclude<MergeSource, {run: string}>): Promise<Found> {
  const {cwd, base, meta, ignoreConfigKeys = []} = source
  const given = resolve(cwd, source.adapter)
  const weights = (await isFolder(given)) ? findAdapterWeights(given) : given
  if (weights === undefined) throw new SvcError('adapter_missing', {path: given})
  const shards = 'shards' in base ? base.shards.map((shard) => resolve(cwd, shard)) : []
  for (const file of [...shards, weights]) await refuseMissing(file)
  if (extname(weights).toLowerCase() === '.bin') throw new SvcError('adapter_legacy', {file: weights})
  const manifest = await readManifest(weights, meta === undefined ? undefined : resolve(cwd, meta), ignoreConfigKeys)
  refuseMixedFamilies(manifest)
  const place =
    'folder' in base ? await weightsPlace(resolve(cwd, base.folder)) : shards.length === 1 ? shards[0] : undefined
  if (place !== undefined && isGgufName(place))
    return {
      manifest,
      weights,
      ...(await fromGguf(place)),
      basePath: place,
      folders: [...new Set([dirname(manifest.file), dirname(weights)])],
    }
  const folder = 'folder' in base ? resolve(cwd, base.folder) : dirname(shards[0] as string)
  return {
    manifest,
    weights,
    base: 'folder' in base ? await readShards(folder) : await firstOfEach(shards),
    basePath: folder,
    folders: [...new Set([dirname(manifest.file), dirname(weights), folder])],
  }
}

async function refuseMissing(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    throw SvcError.from(error)
  })
  if (!found.isFile()) throw new SvcError('file_unreadable', {path: file, reason: 'it is not a file'})
}

async function readManifest(
  weights: string,
  meta: string | undefined,
  ignored: readonly string[],
): Promise<AdapterManifest> {
  if (meta !== undefined) {
    await refuseMissing(meta)
    return readManifestFile(meta, ignored)
  }
  const manifest = await readAdapterManifest(dirname(weights), ignored)
  if (manifest === undefined)
    throw new SvcError('adapter_invalid', {file: weights, reason: 'it has no manifest in its directory'})
  return manifest
}

async function firstOfEach(shards: readonly string[]): Promise<TensorMap> {
  const maps = await Promise.all(shards.map((shard) => readTensorMap(shard)))
  return new Map(maps.reverse().flatMap((map) => [...map]))
}

/** Tensor names of the base model families; other names do not indicate a family. */
const families: readonly [family: string, names: RegExp][] = [
  ['GPT-2', /^(transformer\.)?(h\.|wte\.weight$)/],
  ['multimodal', /^model\.language_model\./],
  ['decoder', /^model\.(layers\.|embed_tokens\.)/],
]

/** @throws merge_families */
function refuseMixedFamilies({file, targets}: AdapterManifest): void {
  const counts = families
    .map(([family, names]) => ({family, count: targets.filter((target) => names.test(target)).length}))
    .filter(({count}) => count > 0)
    .map(({family, count}) => `${count} ${family}`)
  if (counts.length > 1) throw new SvcError('merge_families', {file, counts})
}

/** The file in the first folder that contains it. */
export const findFirst = (folders: readonly string[], name: string): string | undefined =>
  folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
