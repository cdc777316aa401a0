import {type FileHandle, mkdir, open, readdir, readFile, rm, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {deserialize, serialize} from 'node:v8'
import type {SpeechFinalV1 as SpeechFinal} from '../../contracts/index.js'
import {writeFileAtomic} from '../../files/index.js'
import type {LiveCheckpoint, UtteranceSpan} from '../../speech/index.js'

/** What a session is, unchanged while it exists. */
export interface SessionInfo {
  id: string
  correlationId: string
  /** Silence that ends an utterance, ms; without it, only a commit does. */
  silenceMs?: number | undefined
  /** Ends with the first utterance. */
  once: boolean
  /** Text that the recognition continues. */
  prompt?: string | undefined
}

/** What a session continues from, apart from its audio and its final results. */
export interface SessionState {
  checkpoint: LiveCheckpoint
  /** Number of utterances that have ended. */
  utterances: number
  /** Those of them that have no final result yet. */
  pending: {index: number; span: UtteranceSpan}[]
  /** Language of the current utterance, as the client specified it. */
  language: string | undefined
}

/** A session as it was stored. */
export interface StoredSession {
  info: SessionInfo
  state: SessionState
  finals: SpeechFinal[]
  /** The audio from the sample `audioStart` on, s16le. */
  audioStart: number
  audio: Buffer
  files: SessionFiles
}

/** Time between two writes of audio to the disk, ms. */
const writeEveryMs = 250
/** Length of an audio file after which the next one starts, bytes: 10 s. */
const segmentBytes = 320_000

const names = {info: 'session.json', state: 'state', finals: 'finals.ndjson'} as const
const audioName = /^(\d+)\.pcm$/
const mode = 0o600

/**
 * The files of one session: what it is (JSON), the last state to continue from, final results (a JSON line each), and
 * audio. The state is serialised by V8, which preserves typed arrays. Segments of audio are deleted when their results
 * are stored. Writes are performed in order, and flushed to the disk.
 */
export class SessionFiles {
  readonly #folder: string
  readonly #onFailure: (error: unknown) => void
  #work: Promise<void> = Promise.resolve()
  #isBroken = false
  /** Audio that was not written yet, and the position after it, samples. */
  #unwritten: Buffer[] = []
  #end: number
  #durable: number
  #timer: NodeJS.Timeout | undefined
  /** The file that audio is appended to, and its length, bytes. */
  #segment: {file: FileHandle; bytes: number} | undefined
  /** The latest state, and the one on the disk, both without utterances whose results are on the disk. */
  #state: SessionState
  #stored: SessionState
  #updates = 0

  private constructor(folder: string, state: SessionState, end: number, onFailure: (error: unknown) => void) {
    this.#folder = folder
    this.#state = state
    this.#stored = state
    this.#end = end
    this.#durable = end
    this.#onFailure = onFailure
  }

  /** @param onFailure called once if a write fails; later ones are not tried @throws file_unwritable, disk_full */
  static async create(
    folder: string,
    info: SessionInfo,
    state: SessionState,
    onFailure: (error: unknown) => void,
  ): Promise<SessionFiles> {
    await mkdir(folder, {recursive: true, mode: 0o700})
    await writeFileAtomic(join(folder, names.info), JSON.stringify(info), {mode, flush: true})
    await writeState(folder, state)
    return new SessionFiles(folder, state, 0, onFailure)
  }

  /** Reads a session of an earlier process. @throws if it is incomplete */
  static async load(folder: string, onFailure: (error: unknown) => void): Promise<StoredSession> {
    const info = JSON.parse(await readFile(join(folder, names.info), 'utf8')) as SessionInfo
    const stored = deserialize(await readFile(join(folder, names.state))) as SessionState
    const lines = await readFile(join(folder, names.finals), 'utf8').catch(() => '')
    // A line that was being written when the process ended is computed again.
    const results = lines.split('\n').slice(0, -1).map(parseLine)
    const ended = new Set(results.map(({index}) => index))
    const state = {...stored, pending: stored.pending.filter(({index}) => !ended.has(index))}
    const {start, audio} = await readAudio(folder, neededFrom(state))
    const end = start + audio.length / 2
    if (end < state.checkpoint.at) throw new Error('The audio ends before the state.')
    const finals = results.flatMap(({event}) => (event === undefined ? [] : [event]))
    return {info, state, finals, audioStart: start, audio, files: new SessionFiles(folder, state, end, onFailure)}
  }

  /** Position after the audio that was added, samples. */
  get end(): number {
    return this.#end
  }

  /** Position after the audio that is on the disk, samples. */
  get durable(): number {
    return this.#durable
  }

  /** Audio without a stored result, samples. */
  get kept(): number {
    return this.#end - neededFrom(this.#stored)
  }

  /** Adds audio, s16le; it is written soon. */
  append(audio: Buffer): void {
    this.#end += audio.length / 2
    this.#unwritten.push(audio)
    this.#timer ??= setTimeout(() => void this.flush(), writeEveryMs).unref()
  }

  /** Resolves when the audio so far is on the disk. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    return this.#enqueue(() => this.#writeAudio())
  }

  /** Stores what the session continues from, after the audio that it refers to. */
  update(change: Partial<SessionState>): Promise<void> {
    this.#state = {...this.#state, ...change}
    const update = ++this.#updates
    return this.#enqueue(async () => {
      // A later update includes this one.
      if (this.#updates !== update) return
      const state = this.#state
      await this.#writeAudio()
      await writeState(this.#folder, state)
      this.#stored = state
      await this.#dropAudio()
    })
  }

  /** Stores a checkpoint, and the utterance that ended with it. */
  checkpoint(checkpoint: LiveCheckpoint, ended: UtteranceSpan | undefined): Promise<void> {
    const {utterances, pending} = this.#state
    if (ended === undefined) return this.update({checkpoint})
    return this.update({
      checkpoint,
      utterances: utterances + 1,
      pending: [...pending, {index: utterances, span: ended}],
    })
  }

  /** Stores the final result of an utterance, or that it has none. */
  finish(index: number, event: SpeechFinal | undefined): Promise<void> {
    return this.#enqueue(async () => {
      await this.#writeAudio()
      await appendDurably(join(this.#folder, names.finals), `${JSON.stringify({index, event})}\n`)
      // Only now: until the result is stored, states list the utterance.
      const without = (state: SessionState) => ({...state, pending: state.pending.filter((one) => one.index !== index)})
      this.#state = without(this.#state)
      this.#stored = without(this.#stored)
      await this.#dropAudio()
    })
  }

  /** Writes what is left and closes the files. */
  async close(): Promise<void> {
    await this.flush()
    await this.#closeSegment()
  }

  /** Deletes the files. */
  async remove(): Promise<void> {
    clearTimeout(this.#timer)
    this.#isBroken = true
    await this.#work
    await this.#closeSegment()
    await removeSession(this.#folder)
  }

  #enqueue(step: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(async () => {
      if (this.#isBroken) return
      try {
        await step()
      } catch (error) {
        this.#isBroken = true
        this.#onFailure(error)
      }
    })
    return this.#work
  }

  async #writeAudio(): Promise<void> {
    if (this.#unwritten.length === 0) return
    const audio = Buffer.concat(this.#unwritten)
    const end = this.#end
    this.#unwritten = []
    this.#segment ??= {file: await open(join(this.#folder, `${this.#durable}.pcm`), 'w', mode), bytes: 0}
    await this.#segment.file.appendFile(audio)
    await this.#segment.file.datasync()
    this.#segment.bytes += audio.length
    this.#durable = end
    if (this.#segment.bytes >= segmentBytes) await this.#closeSegment()
  }

  async #closeSegment(): Promise<void> {
    const segment = this.#segment
    this.#segment = undefined
    await segment?.file.close()
  }

  /** Deletes the segments of which all results are stored. */
  async #dropAudio(): Promise<void> {
    const from = neededFrom(this.#stored)
    const starts = await segmentStarts(this.#folder)
    for (const [i, start] of starts.entries()) {
      const end = starts[i + 1] ?? this.#durable
      if (end > from || end === start) return
      // The last segment is complete too if nothing of it is needed.
      if (i === starts.length - 1) await this.#closeSegment()
      await rm(join(this.#folder, `${start}.pcm`))
    }
  }
}

/** Deletes the files of a session. */
export const removeSession = (folder: string): Promise<void> => rm(folder, {recursive: true, force: true})

/** Time of the last change of a session, ms since 1970. */
export async function lastChange(folder: string): Promise<number> {
  const times = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).mtimeMs))
  return Math.max(0, ...times)
}

const neededFrom = ({checkpoint, pending}: SessionState): number =>
  Math.min(checkpoint.start, ...pending.map(({span}) => span.start))

const writeState = (folder: string, state: SessionState): Promise<void> =>
  writeFileAtomic(join(folder, names.state), serialize(state), {mode, flush: true})

async function appendDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'a', mode)
  try {
    await file.appendFile(text)
    await file.datasync()
  } finally {
    await file.close()
  }
}

const parseLine = (line: string): {index: number; event?: SpeechFinal} => JSON.parse(line)

async function segmentStarts(folder: string): Promise<number[]> {
  const names = await readdir(folder)
  return names.flatMap((name) => audioName.exec(name)?.slice(1).map(Number) ?? []).sort((a, b) => a - b)
}

/** Reads the audio from a position on, from the segment that contains it. */
async function readAudio(folder: string, from: number): Promise<{start: number; audio: Buffer}> {
  const starts = await segmentStarts(folder)
  const first = starts.findLastIndex((start) => start <= from)
  if (first < 0) return {start: from, audio: Buffer.alloc(0)}
  const pieces: Buffer[] = []
  let end = starts[first] as number
  for (const start of starts.slice(first)) {
    if (start !== end) throw new Error('A part of the audio is missing.')
    const bytes = await readFile(join(folder, `${start}.pcm`))
    // A write that was interrupted can end within a sample.
    pieces.push(bytes.subarray(0, bytes.length - (bytes.length % 2)))
    end += Math.floor(bytes.length / 2)
  }
  return {start: starts[first] as number, audio: Buffer.concat(pieces)}
}
