import {existsSync} from 'node:fs'
import {readdir, readFile, realpath, rename, rm, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {holdLockFile, isWithin, lockHolder, readEach, writeFault} from '../../files/index.js'
import {ggufModels, ggufParts} from '../gguf/gguf-file.js'
import {
  cachedModels,
  filesIn,
  removeLeftovers,
  repositoryFolder,
  repositoryLock,
  snapshotsOf,
  temporarySnapshot,
} from './cache-layout.js'
import {defaultRevision, modelName} from './model-name.js'

/** A model in the cache: a snapshot, a single file of one, or what an interrupted download has left over. */
export interface CachedModel {
  /** The shortest name by which commands find it: `owner/name[:FILE][@revision]`. */
  name: string
  id: string
  /** Undefined if no download has completed. */
  commit: string | undefined
  /** A whisper.cpp or GGUF file, which is a model by itself. */
  file?: string
  /** The file, the folder of the snapshot or, without one, that of the repository. */
  path: string
  bytes: number
  /** Time of the download, Unix ms. */
  modifiedMs: number
}

/** The files that are complete models: those of whisper.cpp, and GGUF files; of a split model, the first part. */
const modelFiles = (names: readonly string[]): string[] => [
  ...names.filter((name) => /^ggml-[^/]+\.bin$/.test(name)),
  ...ggufModels(names),
]

/** Lists the models in a cache folder, also those that other tools have downloaded, in the order of their names. */
export async function listCachedModels(cacheFolder: string): Promise<CachedModel[]> {
  const ids = (await cachedModels(cacheFolder)).sort()
  return (await readEach(ids, (id) => modelsOf(id, cacheFolder))).flat()
}

async function modelsOf(id: string, cacheFolder: string): Promise<CachedModel[]> {
  const repository = repositoryFolder(id, cacheFolder)
  const commits = await snapshotsOf(repository)
  const blobs = join(repository, 'blobs')
  if (commits.length === 0)
    return existsSync(blobs) ? [{name: id, id, commit: undefined, path: repository, ...(await sizeOf(blobs))}] : []
  const revisions = await referencesOf(repository)
  const models = commits.map(async (commit): Promise<CachedModel[]> => {
    const path = join(repository, 'snapshots', commit)
    const named = revisions.filter((each) => each.commit === commit).map(({revision}) => revision)
    const revision = named.includes(defaultRevision) ? defaultRevision : (named.sort()[0] ?? commit)
    const files = modelFiles(await filesIn(path))
    if (existsSync(join(path, 'config.json')) || files.length === 0)
      return [{name: modelName(id, revision), id, commit, path, ...(await sizeOf(path))}]
    return Promise.all(
      files.sort().map(async (file) => {
        const found = await Promise.all(ggufParts(file).map((part) => stat(join(path, part)).catch(() => undefined)))
        const bytes = found.reduce((total, each) => total + (each?.size ?? 0), 0)
        const size = {bytes, modifiedMs: Math.round(found[0]?.mtimeMs ?? 0)}
        return {name: modelName(`${id}:${file}`, revision), id, commit, file, path: join(path, file), ...size}
      }),
    )
  })
  return (await Promise.all(models)).flat().sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Size of the files below a folder, each counted once, and the time of its last change. */
async function sizeOf(folder: string): Promise<Pick<CachedModel, 'bytes' | 'modifiedMs'>> {
  const found = await stat(folder).catch(() => undefined)
  return {bytes: sum((await targetsIn(folder)).values()), modifiedMs: Math.round(found?.mtimeMs ?? 0)}
}

/** The sizes of the files below a folder, by the target of a link. A file that disappears meanwhile is left out. */
async function targetsIn(folder: string): Promise<Map<string, number>> {
  const found = (await filesIn(folder)).map(async (name) => {
    const path = await realpath(join(folder, name))
    const file = await stat(path)
    return file.isFile() ? [[path, file.size] as const] : []
  })
  return new Map((await Promise.all(found.map((each) => each.catch(noneIfGone)))).flat())
}

function noneIfGone(error: NodeJS.ErrnoException): [] {
  if (error.code !== 'ENOENT') throw error
  return []
}

const sum = (sizes: Iterable<number>): number => [...sizes].reduce((total, size) => total + size, 0)

/** The branches and tags of a repository, with their commits. */
async function referencesOf(repository: string): Promise<{revision: string; commit: string; path: string}[]> {
  const folder = join(repository, 'refs')
  const read = async (revision: string) => {
    const path = join(folder, revision)
    const commit = await readFile(path, 'utf8').catch(() => undefined)
    return commit === undefined ? [] : [{revision, commit: commit.trim(), path}]
  }
  return (await Promise.all((await filesIn(folder)).map(read))).flat()
}

/**
 * Deletes a model from the cache. Files that another snapshot links to are kept.
 * @returns the deleted bytes
 * @throws model_in_use if another process uses or downloads the model; model_not_found, file_unwritable
 */
export async function removeCachedModel(model: CachedModel, cacheFolder: string): Promise<number> {
  const {id, name, path} = model
  const lockPath = repositoryLock(id, cacheFolder)
  const lock = await holdLockFile(lockPath)
  if (lock === undefined) {
    const holder = await lockHolder(lockPath)
    throw inUse(name, holder === undefined ? 'another process' : `process ${holder.pid}`)
  }
  try {
    const repository = repositoryFolder(id, cacheFolder)
    await removeLeftovers(join(repository, 'snapshots'))
    if (!existsSync(path)) throw new SvcError('model_not_found', {model: name, tried: [path]})
    const deletion = await planDeletion(model, repository)
    await refuseUsed(name, [path, ...deletion.files])
    if (model.commit !== undefined && model.file === undefined) await takeAway(model, deletion.files)
    for (const file of deletion.files) await rm(file, {force: true})
    for (const reference of deletion.references) await rm(reference, {force: true})
    if (deletion.isLast) await rm(repository, {recursive: true, force: true})
    return deletion.bytes
  } catch (error) {
    throw writeFault(error, path)
  } finally {
    await lock.release()
  }
}

interface Deletion {
  /** Blobs to which no other snapshot links, and links to them. */
  files: string[]
  bytes: number
  /** References to the snapshot. */
  references: string[]
  /** Whether nothing of the repository remains. */
  isLast: boolean
}

async function planDeletion({commit, file, path}: CachedModel, repository: string): Promise<Deletion> {
  const commits = await snapshotsOf(repository)
  const snapshotOf = (each: string) => join(repository, 'snapshots', each)
  const kept = new Set<string>()
  for (const each of commits) {
    if (each === commit) continue
    // A snapshot that cannot be read could link to any file.
    await readdir(snapshotOf(each))
    for (const target of (await targetsIn(snapshotOf(each))).keys()) kept.add(target)
  }
  const own = commit === undefined ? [] : await filesIn(snapshotOf(commit))
  const others = file === undefined ? [] : modelFiles(own).filter((name) => name !== file)
  const isLast = others.length === 0 && commits.every((each) => each === commit)
  const targets = new Map(file === undefined && commit !== undefined ? await targetsIn(path) : [])
  const parts = file === undefined ? [] : ggufParts(path)
  for (const part of parts) if (existsSync(part)) targets.set(await realpath(part), (await stat(part)).size)
  if (isLast) for (const [target, size] of await targetsIn(join(repository, 'blobs'))) targets.set(target, size)
  const root = await realpath(repository)
  const doomed = [...targets].filter(([target]) => !kept.has(target) && isWithin(root, target))
  const files = doomed.map(([target]) => target)
  const references = others.length > 0 ? [] : (await referencesOf(repository)).filter((each) => each.commit === commit)
  return {
    files: [...parts, ...files],
    bytes: sum(doomed.map(([, size]) => size)),
    references: references.map((reference) => reference.path),
    isLast,
  }
}

/** Moves a snapshot away, so that nothing can open it any more, and deletes it, unless it was opened meanwhile. */
async function takeAway({name, path}: CachedModel, files: readonly string[]): Promise<void> {
  const gone = temporarySnapshot(path)
  await rename(path, gone)
  try {
    await refuseUsed(name, [gone, ...files])
  } catch (error) {
    await rename(gone, path)
    throw error
  }
  await rm(gone, {recursive: true, force: true})
}

/** @throws model_in_use */
async function refuseUsed(model: string, paths: readonly string[]): Promise<void> {
  const {namesOf, usersOf} = await import('../../process/index.js')
  const users = await usersOf(paths)
  if (users.length > 0) throw inUse(model, namesOf(users))
}

const inUse = (model: string, users: string) => new SvcError('model_in_use', {model, users})
