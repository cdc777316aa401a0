import type {Dirent} from 'node:fs'
import {readdir, stat} from 'node:fs/promises'
import {basename, dirname, extname, join, relative, resolve, sep} from 'node:path'
import {hasAudioContent, isAudioFile} from '../../audio/index.js'
import {SvcError} from '../../errors/index.js'
import {isFolder} from '../../files/index.js'

export interface ListedRecording {
  path: string
  /** The directory argument in which it was found; undefined if it was named itself. */
  root: string | undefined
}

/** Files of a directory that are not transcribed. */
export interface SkippedFiles {
  folder: string
  withoutAudio: readonly string[]
  unreadable: readonly string[]
}

interface ListOptions {
  /** Also the recordings in subdirectories. */
  recursive: boolean
  /** Called for a directory with such files. */
  onSkipped?: ((skipped: SkippedFiles) => void) | undefined
}

/**
 * Expands arguments to recordings: files unchanged, directories to the recordings in them by path, `-` for standard
 * input. Missing files are reported when they are opened.
 * @throws audio_folder_empty, file_unreadable, usage
 */
export async function listRecordings(args: readonly string[], options: ListOptions): Promise<ListedRecording[]> {
  if (args.filter((arg) => arg === '-').length > 1)
    throw new SvcError('usage', {reason: 'Standard input (-) can be transcribed only once.'})
  const lists: ListedRecording[][] = []
  for (const arg of args)
    lists.push(
      (await isFolder(arg))
        ? (await recordingsIn(arg, options)).map((path) => ({path, root: arg}))
        : [{path: arg, root: undefined}],
    )
  return lists.flat()
}

type FileKind = 'recording' | 'withoutAudio' | 'unreadable'

/**
 * Recordings by their extension or content. Links to files are followed, links to directories are not. Hidden files, and
 * files in hidden directories, are ignored.
 */
async function recordingsIn(folder: string, {recursive, onSkipped}: ListOptions): Promise<string[]> {
  const entries = await readdir(folder, {withFileTypes: true, recursive}).catch((error: unknown) => {
    throw SvcError.from(error)
  })
  const found: Record<FileKind, string[]> = {recording: [], withoutAudio: [], unreadable: []}
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    const isHidden = relative(folder, path)
      .split(sep)
      .some((part) => part.startsWith('.'))
    const kind = isHidden ? undefined : await kindOf(entry, path)
    if (kind !== undefined) found[kind].push(path)
  }
  const [withoutAudio, unreadable] = [found.withoutAudio.sort(), found.unreadable.sort()]
  if (withoutAudio.length + unreadable.length > 0) onSkipped?.({folder, withoutAudio, unreadable})
  if (found.recording.length === 0) throw new SvcError('audio_folder_empty', {folder})
  return found.recording.sort()
}

/** Undefined for a directory. */
async function kindOf(entry: Dirent, path: string): Promise<FileKind | undefined> {
  if (entry.isDirectory()) return undefined
  try {
    const file = entry.isSymbolicLink() ? await stat(path) : entry
    if (file.isDirectory()) return undefined
    // Reading a named pipe would wait for a writer.
    if (!file.isFile()) return 'unreadable'
    return isAudioFile(entry.name) || (await hasAudioContent(path)) ? 'recording' : 'withoutAudio'
  } catch {
    return 'unreadable'
  }
}

/**
 * Returns an output path per recording; one that is given twice has one. Recordings that were named themselves are directly in
 * the directory, even if they were also found. The others keep their subdirectories relative to the directory argument. The
 * extension is replaced. If two paths would be equal, both recordings keep their extensions.
 * @throws usage if two paths are still equal on a case-insensitive file system
 */
export function outputPaths(
  recordings: readonly ListedRecording[],
  folder: string,
  extension: string,
): Map<string, string> {
  const files = new Map<string, ListedRecording>()
  for (const recording of recordings) {
    const id = recording.path === '-' ? '-' : resolve(recording.path)
    if (recording.root === undefined || !files.has(id)) files.set(id, recording)
  }
  const places = [...files.values()].map(({path, root}) => {
    if (path === '-') return {path, long: '-', short: 'stdin'}
    const place = root === undefined ? '' : relative(root, dirname(path))
    return {path, long: join(place, basename(path)), short: join(place, basename(path, extname(path)))}
  })
  const wishes = new Map<string, number>()
  for (const {long, short} of places)
    for (const name of new Set([key(long), key(short)])) wishes.set(name, (wishes.get(name) ?? 0) + 1)
  const owners = new Map<string, string>()
  return new Map(
    places.map(({path, long, short}) => {
      const name = wishes.get(key(short)) === 1 ? short : long
      const output = join(folder, name + extension)
      const owner = owners.get(key(name))
      if (owner !== undefined)
        throw new SvcError('usage', {
          reason: `The transcripts of ${owner} and ${path} would have the same path: ${output}.`,
        })
      owners.set(key(name), path)
      return [path, output]
    }),
  )
}

/** Equal for names that are one on a case-insensitive file system. */
const key = (name: string) => name.normalize('NFC').toLowerCase()
