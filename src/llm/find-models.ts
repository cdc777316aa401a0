import {existsSync} from 'node:fs'
import {readdir} from 'node:fs/promises'
import {basename, join, relative, sep} from 'node:path'
import {readEach} from '../files/index.js'
import {
  cachedModels,
  defaultRevision,
  ggufModelName,
  ggufModels,
  hasAdapter,
  hasShards,
  isGgufName,
  listCachedModels,
  listOllamaModels,
  readJsonObject,
  readModelFile,
  snapshotPlace,
} from '../weights/index.js'
import {isLanguageModel} from './families/index.js'

/** Folders of a workspace whose subfolders are searched for models. */
const modelFolders = ['models', 'runs']

/**
 * The language models on this machine: model and run directories in `models` and `runs` of a workspace, and those in the
 * local Hugging Face cache. Reads their configurations, but no weights.
 * @returns names that `--model` accepts: paths relative to `cwd`, and ids
 */
export async function findLanguageModels({root, cwd, cacheFolder}: {root: string; cwd: string; cacheFolder: string}) {
  const cached: string[] = []
  for (const id of await cachedModels(cacheFolder)) {
    const snapshot = await snapshotPlace(id, defaultRevision, cacheFolder)
    if (snapshot !== undefined && (await isModel(snapshot))) cached.push(id)
  }
  return [...(await findWorkspaceModels(root, cwd)), ...cached.sort()]
}

/** The models of a workspace: paths relative to `cwd`. */
export async function findWorkspaceModels(root: string, cwd: string): Promise<string[]> {
  const places = modelFolders.map((name) => join(root, name))
  const files = (await Promise.all(places.map(ggufFiles))).flat()
  const folders = (await Promise.all(places.map(subfolders))).flat()
  const local = files.map((file) => asPath(relative(cwd, file)))
  for (const folder of await usable(folders)) local.push(asPath(relative(cwd, folder)))
  return local.sort()
}

const ggufFiles = async (folder: string): Promise<string[]> =>
  ggufModels(await readdir(folder).catch(() => [])).map((name) => join(folder, name))

/** A model of a server, which clients request by its name. */
export interface NamedModel {
  name: string
  path: string
  /** Whether it was downloaded, so that it can be deleted. */
  isDownloaded: boolean
}

/** What stands for other models than those of folders among the sources of `findNamedModels`. */
const otherSources = {pulled: findDownloaded, ollama: findOllama} as const

export const isFolderOfModels = (source: string): boolean => !Object.hasOwn(otherSources, source)

/** Folders of downloaded models. */
export interface ModelStores {
  cacheFolder: string
  ollamaFolder: string
}

/**
 * Language models by name: that of their folder or GGUF file, the one that `svc list` prints, or the one in Ollama. Of several
 * models with the same name, the first counts.
 * @param sources folders, `pulled` for the downloaded ones, and `ollama`
 */
export async function findNamedModels(sources: readonly string[], stores: ModelStores): Promise<NamedModel[]> {
  const found = new Map<string, NamedModel>()
  for (const source of sources)
    for (const model of await modelsOf(source, stores)) if (!found.has(model.name)) found.set(model.name, model)
  return [...found.values()]
}

const modelsOf = (source: string, stores: ModelStores): Promise<NamedModel[]> =>
  isFolderOfModels(source) ? findIn(source) : otherSources[source as keyof typeof otherSources](stores)

async function findIn(folder: string): Promise<NamedModel[]> {
  const models = (await ggufFiles(folder)).map((path) => ({name: ggufModelName(path), path, isDownloaded: false}))
  for (const path of await usable(await subfolders(folder)))
    models.push({name: basename(path), path, isDownloaded: false})
  return models.sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function findOllama({ollamaFolder}: ModelStores): Promise<NamedModel[]> {
  const models = await listOllamaModels(ollamaFolder)
  return models.map(({name, model}) => ({name, path: model, isDownloaded: false}))
}

async function findDownloaded({cacheFolder}: ModelStores): Promise<NamedModel[]> {
  const models: NamedModel[] = []
  for (const {name, path, commit, file} of await listCachedModels(cacheFolder))
    if (commit !== undefined && (file === undefined ? await isModel(path) : isGgufName(file)))
      models.push({name, path, isDownloaded: true})
  return models
}

const subfolders = async (folder: string): Promise<string[]> =>
  (await readdir(folder, {withFileTypes: true}).catch(() => []))
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({name}) => join(folder, name))

const isRun = (folder: string): Promise<boolean> => hasAdapter(folder).catch(() => false)

/** Those of the folders that have a model. */
async function usable(folders: readonly string[]): Promise<string[]> {
  const are = await readEach(folders, isUsable)
  return folders.filter((_, i) => are[i])
}

const isUsable = async (folder: string): Promise<boolean> =>
  (await isRun(folder)) || (await isVariant(folder)) || isModel(folder)

/** Whether a directory gives another model other defaults. A file with a mistake counts, so that it is reported. */
const isVariant = async (folder: string): Promise<boolean> => {
  const {from} = await readModelFile(folder).catch(() => ({from: ''}))
  return from !== undefined
}

const isDescribed = async (folder: string): Promise<boolean> =>
  isLanguageModel(await readJsonObject(join(folder, 'config.json')).catch(() => ({})))

const isModel = async (folder: string): Promise<boolean> =>
  (await isOnlyGguf(folder)) || ((await isDescribed(folder)) && hasShards(folder).catch(() => false))

/** Whether a folder has one GGUF model, and no configuration. */
const isOnlyGguf = async (folder: string): Promise<boolean> =>
  !existsSync(join(folder, 'config.json')) && (await ggufFiles(folder)).length === 1

/** Whether a directory is that of a language model, even if its weights are missing. */
export const isLanguageModelFolder = async (folder: string): Promise<boolean> =>
  (await isRun(folder)) || (await isVariant(folder)) || (await isDescribed(folder)) || isOnlyGguf(folder)

/** A path that cannot be taken for an id. */
const asPath = (path: string): string => (path.startsWith('..') ? path : `.${sep}${path}`)
