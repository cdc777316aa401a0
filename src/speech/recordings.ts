import {readdir} from 'node:fs/promises'
import {basename, dirname, extname, join, relative, resolve, sep} from 'node:path'
import {isAudioFile} from '../audio/index.js'
import {SvcError} from '../errors/index.js'
import {isFolder} from '../files/index.js'

/**
 * Expands arguments to recordings: files unchanged, directories to the recordings in them by path, `-` for standard
 * input. Missing files are reported when they are opened.
 * @param recursive also the recordings in subdirectories
 * @throws audio_folder_empty, file_unreadable
 */
export async function listRecordings(args: readonly string[], {recursive}: {recursive: boolean}): Promise<string[]> {
  const lists = await Promise.all(
    args.map(async (arg) => ((await isFolder(arg)) ? recordingsIn(arg, recursive) : [arg])),
  )
  return lists.flat()
}

/** Links to directories are not followed. */
async function recordingsIn(folder: string, recursive: boolean): Promise<string[]> {
  const entries = await readdir(folder, {withFileTypes: true, recursive}).catch((error: unknown) => {
    throw SvcError.from(error)
  })
  const files = entries
    .filter((entry) => !entry.isDirectory() && isAudioFile(entry.name))
    .map(({name, parentPath}) => join(parentPath, name))
  if (files.length === 0) throw new SvcError('audio_folder_empty', {folder})
  return files.sort()
}

/**
 * Returns an output path per recording. Subdirectories are kept relative to the common parent directory, and the
 * extension is replaced. If two paths would be equal on a case-insensitive file system, both recordings keep their
 * extensions.
 */
export function outputPaths(recordings: readonly string[], folder: string, extension: string): Map<string, string> {
  const files = [...new Set(recordings)]
  const shared = sharedFolder(files.filter((file) => file !== '-').map((file) => dirname(resolve(file))))
  const places = files.map((file) => {
    if (file === '-') return {file, long: '-', short: 'stdin'}
    const place = relative(shared, dirname(resolve(file)))
    return {file, long: join(place, basename(file)), short: join(place, basename(file, extname(file)))}
  })
  const key = (name: string) => name.normalize('NFC').toLowerCase()
  const wishes = new Map<string, number>()
  for (const {long, short} of places)
    for (const name of new Set([key(long), key(short)])) wishes.set(name, (wishes.get(name) ?? 0) + 1)
  const nameOf = ({long, short}: (typeof places)[number]) => (wishes.get(key(short)) === 1 ? short : long)
  return new Map(places.map((place) => [place.file, join(folder, nameOf(place) + extension)]))
}

/** Returns the deepest common parent directory. */
function sharedFolder([first, ...others]: readonly string[]): string {
  const parts = first?.split(sep) ?? []
  const length = others.reduce((most, other) => {
    const own = other.split(sep)
    const differs = parts.slice(0, most).findIndex((part, i) => part !== own[i])
    return differs === -1 ? most : differs
  }, parts.length)
  return parts.slice(0, length).join(sep) || sep
}
