import {readdir} from 'node:fs/promises'
import {basename, dirname, extname, join, relative, resolve, sep} from 'node:path'
import {hasAudioContent, isAudioFile} from '../audio/index.js'
import {SvcError} from '../errors/index.js'
import {isFolder} from '../files/index.js'

interface ListOptions {
  /** Also the recordings in subdirectories. */
  recursive: boolean
  /** Called with the files of a directory that are no recordings, if there are any. */
  onSkipped?: ((folder: string, files: readonly string[]) => void) | undefined
}

/**
 * Expands arguments to recordings: files unchanged, directories to the recordings in them by path, `-` for standard
 * input. Missing files are reported when they are opened.
 * @throws audio_folder_empty, file_unreadable, usage
 */
export async function listRecordings(args: readonly string[], options: ListOptions): Promise<string[]> {
  if (args.filter((arg) => arg === '-').length > 1)
    throw new SvcError('usage', {reason: 'Standard input (-) can be transcribed only once.'})
  const lists: string[][] = []
  for (const arg of args) lists.push((await isFolder(arg)) ? await recordingsIn(arg, options) : [arg])
  return lists.flat()
}

/** Recordings by their extension or content. Links to directories are not followed; hidden files are ignored. */
async function recordingsIn(folder: string, {recursive, onSkipped}: ListOptions): Promise<string[]> {
  const entries = await readdir(folder, {withFileTypes: true, recursive}).catch((error: unknown) => {
    throw SvcError.from(error)
  })
  const files: string[] = []
  const skipped: string[] = []
  for (const entry of entries) {
    if (entry.isDirectory() || entry.name.startsWith('.')) continue
    const path = join(entry.parentPath, entry.name)
    const isRecording = isAudioFile(entry.name) || (entry.isFile() && (await hasAudioContent(path).catch(() => false)))
    ;(isRecording ? files : skipped).push(path)
  }
  if (files.length === 0) throw new SvcError('audio_folder_empty', {folder})
  if (skipped.length > 0) onSkipped?.(folder, skipped.sort())
  return files.sort()
}

/**
 * Returns an output path per recording. Recordings that were named one by one are directly in the directory if their names
 * differ. The others keep their subdirectories relative to the common parent directory. The extension is replaced. If
 * two paths would be equal on a case-insensitive file system, both recordings keep their extensions.
 * @param named the recordings that were named one by one
 */
export function outputPaths(
  recordings: readonly string[],
  folder: string,
  extension: string,
  named: readonly string[] = recordings,
): Map<string, string> {
  const files = [...new Set(recordings)]
  const shared = sharedFolder(files.filter((file) => file !== '-').map((file) => dirname(resolve(file))))
  const stem = (file: string) => key(file === '-' ? 'stdin' : basename(file, extname(file)))
  const isFlat = files.every((file) => named.includes(file)) && new Set(files.map(stem)).size === files.length
  const places = files.map((file) => {
    if (file === '-') return {file, long: '-', short: 'stdin'}
    const place = isFlat ? '' : relative(shared, dirname(resolve(file)))
    return {file, long: join(place, basename(file)), short: join(place, basename(file, extname(file)))}
  })
  const wishes = new Map<string, number>()
  for (const {long, short} of places)
    for (const name of new Set([key(long), key(short)])) wishes.set(name, (wishes.get(name) ?? 0) + 1)
  const nameOf = ({long, short}: (typeof places)[number]) => (wishes.get(key(short)) === 1 ? short : long)
  return new Map(places.map((place) => [place.file, join(folder, nameOf(place) + extension)]))
}

/** Equal for names that are one on a case-insensitive file system. */
const key = (name: string) => name.normalize('NFC').toLowerCase()

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
