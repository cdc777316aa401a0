import {readdir, stat} from 'node:fs/promises'
import {basename, extname, join} from 'node:path'
import {isAudioFile} from '../audio/index.js'
import {SvcError} from '../errors/index.js'

/**
 * The recordings that arguments stand for: files as they are, folders as the recordings in them by name, `-` as standard
 * input. A file that is not there is left for whoever opens it.
 * @throws audio_folder_empty, file_unreadable
 */
export async function listRecordings(args: readonly string[]): Promise<string[]> {
  const lists = await Promise.all(args.map(async (arg) => ((await isFolder(arg)) ? recordingsIn(arg) : [arg])))
  return lists.flat()
}

const isFolder = (path: string) =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

async function recordingsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, {withFileTypes: true}).catch((error: unknown) => {
    throw SvcError.from(error)
  })
  const names = entries.filter((entry) => !entry.isDirectory() && isAudioFile(entry.name)).map(({name}) => name)
  if (names.length === 0) throw new SvcError('audio_folder_empty', {folder})
  return names.sort().map((name) => join(folder, name))
}

/** Names of output files: those of the recordings with another ending, which stays where two would be the same. */
export function outputNames(recordings: readonly string[], extension: string): Map<string, string> {
  const stem = (recording: string) => (recording === '-' ? 'stdin' : basename(recording, extname(recording)))
  const count = (name: string) => recordings.filter((recording) => stem(recording) === name).length
  return new Map(
    recordings.map((recording) => {
      const name = count(stem(recording)) > 1 ? basename(recording) : stem(recording)
      return [recording, name + extension]
    }),
  )
}
