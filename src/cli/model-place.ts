import {existsSync} from 'node:fs'
import {basename, join, resolve} from 'node:path'
import {cwd} from 'node:process'
import {SvcError} from '../errors/index.js'
import {isFolder} from '../files/index.js'
import type {LocatedModel} from '../speech/index.js'

/** A model on this machine. */
export interface ModelPlace {
  kind: 'language' | 'speech'
  /** Id or directory from which it is loaded. */
  model: string
  /** Folder with its card; for a whisper.cpp file, the file. */
  folder: string
  /** Its id, or the last component of its path. */
  name: string
}

/**
 * Finds a language or speech model on this machine: of Ollama, in a file or folder, or in the cache.
 * @param findSpeech looks for a speech model of this name
 * @throws model_not_found
 */
export async function findModelPlace(
  model: string,
  cacheFolder: string,
  findSpeech: () => Promise<LocatedModel | undefined>,
): Promise<ModelPlace> {
  const {
    defaultRevision,
    ggufModelName,
    isGgufName,
    isOllamaName,
    ollamaFolder,
    parseModelName,
    readOllamaModel,
    snapshotPlace,
  } = await import('../weights/index.js')
  if (isOllamaName(model)) {
    const {path, name} = await readOllamaModel(model, ollamaFolder(process.env))
    return {kind: 'language', model, folder: path, name}
  }
  const {isLanguageModelFolder} = await import('../llm/index.js')
  const path = resolve(cwd(), model)
  if (isGgufName(path) && existsSync(path))
    return {kind: 'language', model: path, folder: path, name: ggufModelName(path)}
  if ((await isFolder(path)) && (await isLanguageModelFolder(path)))
    return {kind: 'language', model: path, folder: path, name: basename(path)}
  const {id, file, revision = defaultRevision} = parseModelName(model)
  const snapshot = await snapshotPlace(id, revision, cacheFolder)
  const isPulled = file === undefined ? isLanguageModelFolder : (folder: string) => existsSync(join(folder, file))
  const isText = file === undefined || isGgufName(file)
  if (isText && snapshot !== undefined && (await isPulled(snapshot)))
    return {kind: 'language', model, folder: snapshot, name: model}
  const found = await findSpeech()
  if (found !== undefined) return {kind: 'speech', model: found.path, folder: found.path, name: found.name}
  throw new SvcError('model_not_found', {model, tried: [path, ...(snapshot === undefined ? [] : [snapshot])]})
}
