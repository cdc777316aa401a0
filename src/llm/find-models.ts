import {existsSync} from 'node:fs'
import {readdir} from 'node:fs/promises'
import {join, relative, sep} from 'node:path'
import {
  cachedModels,
  defaultRevision,
  ggufModels,
  hasAdapter,
  hasShards,
  readJsonObject,
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
  for (const folder of folders)
    if ((await isRun(folder)) || (await isModel(folder))) local.push(asPath(relative(cwd, folder)))
  return local.sort()
}

const ggufFiles = async (folder: string): Promise<string[]> =>
  ggufModels(await readdir(folder).catch(() => [])).map((name) => join(folder, name))

const subfolders = async (folder: string): Promise<string[]> =>
  (await readdir(folder, {withFileTypes: true}).catch(() => []))
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({name}) => join(folder, name))

const isRun = (folder: string): Promise<boolean> => hasAdapter(folder).catch(() => false)

const isDescribed = async (folder: string): Promise<boolean> =>
  isLanguageModel(await readJsonObject(join(folder, 'config.json')).catch(() => ({})))

const isModel = async (folder: string): Promise<boolean> =>
  (await isOnlyGguf(folder)) || ((await isDescribed(folder)) && hasShards(folder).catch(() => false))

/** Whether a folder has one GGUF model, and no configuration. */
const isOnlyGguf = async (folder: string): Promise<boolean> =>
  !existsSync(join(folder, 'config.json')) && (await ggufFiles(folder)).length === 1

/** Whether a directory is that of a language model, even if its weights are missing. */
export const isLanguageModelFolder = async (folder: string): Promise<boolean> =>
  (await isRun(folder)) || (await isDescribed(folder)) || isOnlyGguf(folder)

/** A path that cannot be taken for an id. */
const asPath = (path: string): string => (path.startsWith('..') ? path : `.${sep}${path}`)
