import {copyFile, mkdir, readdir, readFile, rm} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import {SvcError} from '../errors/index.js'
import {checkOutputs, isFolder, partialOf, placeFile, writeFault} from '../files/index.js'
import {adapterFilesOf, openAdapter} from './adapter.js'
import {readModelfile} from './modelfile.js'

export interface ImportedAdapter {
  /** Directory of the copy. */
  path: string
  baseModel: string | undefined
  /** Number of weights that it updates. */
  updates: number
}

/**
 * Copies the weights and the manifest of an adapter to a directory of its own. If it is interrupted, the directory has the
 * former adapter or none: without a manifest, weights are not an adapter.
 * @param source directory of PEFT or of a training run, or a Modelfile of Ollama with an ADAPTER
 * @param folder the directory of all adapters
 * @throws modelfile_invalid, output_exists, output_is_input; what `openAdapter` throws
 */
export async function importAdapter(
  source: string,
  folder: string,
  {name, overwrite}: {name?: string | undefined; overwrite: boolean},
): Promise<ImportedAdapter> {
  const place = (await isFolder(source)) ? source : await adapterOf(source)
  const {file, manifest, deltas, baseModel} = await openAdapter(place)
  const path = join(folder, name ?? basename(place))
  const copies = [file, manifest].map((from) => ({from, to: join(path, basename(from))}))
  const names = await readdir(path).catch(() => [])
  const former = (adapterFilesOf(names) ?? []).map((each) => join(path, each))
  await checkOutputs(new Set([...copies.map(({to}) => to), ...former]), {
    overwrite,
    inputs: copies.map(({from}) => from),
  })
  const partials = copies.map(({from, to}) => ({from, to, partial: partialOf(to)}))
  try {
    await mkdir(path, {recursive: true})
    for (const {from, partial} of partials) await copyFile(from, partial)
    // Files of another format would precede those of the new adapter.
    for (const each of former) await rm(each, {force: true})
    for (const {partial, to} of partials) await placeFile(partial, to, {keep: false})
  } catch (error) {
    throw writeFault(error, path)
  } finally {
    for (const {partial} of partials) await rm(partial, {force: true})
  }
  return {path, baseModel, updates: deltas.length}
}

/** The directory that ADAPTER of a Modelfile names. */
async function adapterOf(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw SvcError.from(error)
  })
  const {adapter} = readModelfile(text, file).model
  if (adapter === undefined) throw new SvcError('adapter_missing', {path: dirname(file)})
  return adapter
}
