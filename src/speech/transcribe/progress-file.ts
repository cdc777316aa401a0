import {createHash} from 'node:crypto'
import {readFile, stat} from 'node:fs/promises'
import {SvcError} from '../../errors/index.js'
import {appendJsonLine, writeFileAtomic} from '../../files/index.js'
import type {WindowResult} from '../model/model.js'
import {differences, type Fingerprint} from './fingerprint.js'
import type {WindowResults} from './options.js'

/** Where the progress of a transcription is kept. */
export interface ProgressFile {
  path: string
  /** Uses the finished windows of an interrupted run; otherwise they are discarded. */
  resume: boolean
}

/**
 * Returns the path of the progress file of an output: next to it, where the user already expects a file. It is
 * undefined if the recording or the output is a stream, which cannot be resumed.
 */
export async function progressPath(recording: string, output: string): Promise<string | undefined> {
  const [input, existing] = await Promise.all([recording, output].map((path) => stat(path).catch(() => undefined)))
  return input?.isFile() === true && existing?.isFile() !== false ? `${output}.progress` : undefined
}

interface FinishedWindow {
  /** Hash of the position and the options of the window. */
  key: string
  result: WindowResult
}

/**
 * Opens a file that keeps the result of each window as a line of JSON, after a line with the fingerprint. Later runs read
 * the same windows in the same order, so their state and their text are those of a run without an interruption.
 * @throws output_exists if the file is something else; resume_mismatch, file_unreadable, disk_full, file_unwritable
 */
export async function openProgressFile({path, resume}: ProgressFile, fingerprint: Fingerprint): Promise<WindowResults> {
  const before = await readProgress(path)
  const finished = resume && before !== undefined ? unchanged(path, before, fingerprint) : []
  // An interrupted write may have left an incomplete line.
  await writeFileAtomic(path, [{fingerprint}, ...finished].map((line) => `${JSON.stringify(line)}\n`).join(''))
  const results = new Map(finished.map(({key, result}) => [key, result]))
  const keyOf = (...window: unknown[]) => createHash('sha256').update(JSON.stringify(window)).digest('base64url')
  return {
    has: (position, recognition) => results.has(keyOf(position, recognition)),
    async recognise(position, recognition, recognise) {
      const key = keyOf(position, recognition)
      const known = results.get(key)
      // A window is read once, and its result needs memory.
      results.delete(key)
      if (known !== undefined) return known
      const result = await recognise()
      await appendJsonLine(path, {key, result} satisfies FinishedWindow)
      return result
    },
  }
}

/** The results of a part of the samples, such as one channel: it becomes a part of the key of each window. */
export const resultsOf = (results: WindowResults, part: {channel: number} | {gain: number}): WindowResults => ({
  has: (position, recognition) => results.has?.({...position, ...part}, recognition) ?? false,
  recognise: (position, recognition, recognise) => results.recognise({...position, ...part}, recognition, recognise),
})

interface Progress {
  fingerprint: Fingerprint
  /** Those before the first incomplete line. */
  windows: FinishedWindow[]
}

/** Returns the finished windows, if they are those of the same text. */
function unchanged(path: string, {fingerprint: known, windows}: Progress, fingerprint: Fingerprint): FinishedWindow[] {
  const changed = differences(known, JSON.parse(JSON.stringify(fingerprint)) as Fingerprint)
  if (changed.length > 0) throw new SvcError('resume_mismatch', {path, changed: changed.map(spaced)})
  return windows
}

/** Returns undefined if the file is missing or empty. */
async function readProgress(path: string): Promise<Progress | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw SvcError.from(error)
  })
  if (text === '') return undefined
  const [first, ...windows] = parseLines(text) as [Partial<Progress>?, ...FinishedWindow[]]
  if (typeof first?.fingerprint !== 'object') throw new SvcError('output_exists', {path, flag: undefined})
  return {fingerprint: first.fingerprint, windows}
}

function parseLines(text: string): unknown[] {
  const values: unknown[] = []
  for (const line of text.split('\n').slice(0, -1))
    try {
      values.push(JSON.parse(line))
    } catch {
      break
    }
  return values
}

/** The name of an option in words: `beamSize` becomes `beam size`. */
const spaced = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
