import {copyFile, mkdir, readFile} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import {SvcError} from '../errors/index.js'
import {checkOutputs, isFolder, writeFault} from '../files/index.js'
import {openAdapter, readAdapterManifest} from './adapter.js'
import {readModelfile} from './modelfile.js'

export interface ImportedAdapter {
  /** Directory of the copy. */
  path: string
  baseModel: string | undefined
  /** Number of weights that it updates. */
  updates: number
}

/**
 * Copies the weights and the manifest of an adapter to a directory of its own.
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
  const {file, deltas, baseModel} = await openAdapter(place)
  const manifest = (await readAdapterManifest(place))?.file as string
  const path = join(folder, name ?? basename(place))
  const copies = [file, manifest].map((from) => ({from, to: join(path, basename(from))}))
  await checkOutputs(
    copies.map(({to}) => to),
    {overwrite, inputs: copies.map(({from}) => from)},
  )
  try {
    await mkdir(path, {recursive: true})
    for (const {from, to} of copies) await copyFile(from, to)
  } catch (error) {
    throw writeFault(error, path)
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
