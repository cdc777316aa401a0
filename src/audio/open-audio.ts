import {constants, openSync} from 'node:fs'
import {open, stat} from 'node:fs/promises'
import {basename, extname} from 'node:path'
import type {Readable} from 'node:stream'
import {SvcError} from '../errors/index.js'
import type {AudioSource, AudioStream} from './audio-stream.js'
import {
  type AudioTrack,
  describeTracks,
  layoutName,
  selectTrack,
  type TrackChoice,
  type TrackList,
} from './audio-track.js'
import {ByteReader} from './byte-reader.js'
import {openCompressed} from './compressed.js'
import {audioExtensions} from './extensions.js'
import {openFfmpeg} from './ffmpeg.js'
import {MixDown} from './mix-down.js'
import type {PcmEncoding} from './pcm.js'
import {resampler} from './resample.js'
import {id3Length, isCertainlyAudio, sniff, sniffLength, unknownFormat} from './sniff.js'
import type {AudioWarning, DecoderContext, Sound} from './sound.js'
import {openRaw, openWave} from './wave.js'

/** Format of raw samples without a header. */
export interface RawPcm {
  encoding: PcmEncoding
  /** Hz. */
  sampleRate: number
  channels: number
}

export type AudioInput =
  /** `name` identifies the file in errors, instead of its path. */
  | {path: string; name?: string; raw?: RawPcm | undefined}
  /** `name` identifies the stream in errors. */
  | {name: string; stream: AsyncIterable<Uint8Array>; raw?: RawPcm | undefined}

export interface OpenAudioOptions {
  /** Output sample rate, Hz. */
  sampleRate: number
  signal?: AbortSignal | undefined
  onWarning?: ((warning: AudioWarning) => void) | undefined
  /** The only channel to decode, from 1; by default, all channels are mixed down. */
  channel?: number | undefined
  /** The audio track to decode; by default, the one that the file marks as default, or the one with the most channels. */
  track?: TrackChoice | undefined
  /** Called with the tracks of a container that ffmpeg decodes. */
  onTracks?: ((list: TrackList) => void) | undefined
  /** Decodes audio as soon as it arrives, in short pieces. An unknown binary format is raw PCM, s16le mono at 16 kHz. */
  live?: boolean
}

const livePcm: RawPcm = {encoding: 's16le', sampleRate: 16_000, channels: 1}

/**
 * Opens an audio file or stream and decodes it while it is read. The format is detected from the content, never from the
 * name. Memory use does not depend on the duration. The file is closed when iteration ends, also early.
 * @throws file_not_found, file_unreadable, audio_unrecognized, audio_invalid, audio_track_missing, audio_empty,
 *   audio_track_unknown, audio_tracks_need_file, audio_channel_missing, decoder_unavailable; the reason of the signal
 */
export async function openAudio(input: AudioInput, options: OpenAudioOptions): Promise<AudioStream> {
  options.signal?.throwIfAborted()
  const file = 'path' in input ? await openFile(input.path) : undefined
  const reader = readerOf(file?.bytes ?? (input as {stream: ByteStream}).stream, options.signal)
  const context: DecoderContext = {
    name: 'path' in input ? (input.name ?? input.path) : input.name,
    fileBytes: file?.size,
    warn: options.onWarning ?? (() => undefined),
    live: options.live ?? false,
    track: options.track,
    onTracks: options.onTracks,
    signal: options.signal,
  }
  try {
    const sound = await openSound(input, reader, options.sampleRate, context)
    const {channel = 1, track} = options
    if (track !== undefined && sound.source.container !== 'ffmpeg') requireTrack(sound, track, context)
    const {channels} = sound.source
    if (channel > channels) throw new SvcError('audio_channel_missing', {file: context.name, channel, channels})
    return await startStream(sound, reader, options, context)
  } catch (error) {
    await reader.close()
    throw failure(error, options.signal)
  }
}

/** The only track of a recording that is not a container of several. */
const onlyTrack = ({codec, sampleRate, channels}: AudioSource): AudioTrack => ({
  number: 1,
  codec,
  sampleRate,
  layout: layoutName(channels),
  isDefault: true,
})

function requireTrack({source}: Sound, choice: TrackChoice, {name}: DecoderContext): void {
  const tracks = [onlyTrack(source)]
  if (selectTrack(tracks, choice) !== undefined) return
  const track = typeof choice === 'number' ? choice : choice.name
  throw new SvcError('audio_track_unknown', {file: name, track, tracks: describeTracks(tracks)})
}

/** The format of a recording: its duration in seconds, if it is known, and its audio tracks. */
export interface AudioProbe {
  format: string
  durationSec: number | undefined
  tracks: readonly AudioTrack[]
}

/**
 * Reads the format of a recording, without decoding all of it. A recording that is a stream is read once.
 * @throws what `openAudio` throws
 */
export async function probeAudio(input: AudioInput, signal?: AbortSignal): Promise<AudioProbe> {
  const found: {list?: TrackList} = {}
  const onTracks = (list: TrackList) => {
    found.list ??= list
  }
  const audio = await openAudio(input, {sampleRate: 16_000, signal, onTracks})
  const {source, durationSec} = audio
  const samples = audio[Symbol.asyncIterator]()
  try {
    if (source.container !== 'ffmpeg') return {format: source.container, durationSec, tracks: [onlyTrack(source)]}
    // The description of the tracks can arrive after the first samples.
    while (found.list === undefined && !(await samples.next()).done);
  } finally {
    await samples.return?.()
  }
  return {
    format: source.codec.replace(/^an? /, ''),
    durationSec: found.list?.durationSec,
    tracks: found.list?.tracks ?? [],
  }
}

/** The signal's reason takes precedence over errors that the abort causes. */
const failure = (error: unknown, signal: AbortSignal | undefined): unknown =>
  signal?.aborted ? signal.reason : SvcError.from(error)

interface OpenFile {
  size: number | undefined
  bytes: Readable
}

type ByteStream = AsyncIterable<Uint8Array> & {destroy?: () => unknown}

const readerOf = (bytes: ByteStream, signal: AbortSignal | undefined) =>
  new ByteReader(bytes, {destroy: () => bytes.destroy?.(), signal})

async function openFile(path: string): Promise<OpenFile> {
  try {
    if ((await stat(path)).isFIFO()) return {size: undefined, bytes: await openPipe(path)}
    const handle = await open(path)
    const stats = await handle.stat()
    if (!stats.isDirectory()) {
      // Devices have no size.
      return {size: stats.isFile() ? stats.size : undefined, bytes: handle.createReadStream({highWaterMark: 256 << 10})}
    }
    await handle.close()
  } catch (error) {
    throw SvcError.from(error)
  }
  throw new SvcError('file_unreadable', {path, reason: 'it is a directory'})
}

/**
 * Opens a named pipe without waiting for its writer, and reads it without a thread. A thread that waits for one cannot
 * be stopped, and the process would not end before it.
 */
async function openPipe(path: string): Promise<Readable> {
  const {Socket} = await import('node:net')
  return new Socket({fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false})
}

async function openSound(
  input: AudioInput,
  reader: ByteReader,
  sampleRate: number,
  context: DecoderContext,
): Promise<Sound> {
  if (input.raw !== undefined) return openRaw(reader, input.raw, context)
  const start = await reader.peek(sniffLength)
  if (start.length === 0) throw new SvcError('audio_empty', {file: context.name})
  const through = (format: string, head?: Buffer, seeks = false) =>
    // What was read of a pipe cannot be read again.
    openFfmpeg(
      'path' in input && context.fileBytes !== undefined ? input : {bytes: rest(reader, head), seeks},
      format,
      sampleRate,
      context,
    )
  const tag = id3Length(start)
  if (tag > 0) await reader.skip(tag)
  const sniffed = sniff(tag > 0 ? await reader.peek(sniffLength) : start, {weak: !context.live || tag > 0})
  if (context.live && sniffed.kind === 'other' && sniffed.found === unknownFormat)
    return openRaw(reader, livePcm, context)
  if (sniffed.kind === 'ffmpeg') return through(sniffed.format, undefined, sniffed.seeks)
  if (sniffed.kind === 'other') {
    // MP3 frames may begin some bytes after the tag, or after zero padding.
    if (tag > 0 || (await isPaddedMp3(reader))) return openCompressed('mp3', reader, context)
    throw new SvcError('audio_unrecognized', {file: context.name, found: sniffed.found})
  }
  if (sniffed.kind !== 'wav') return openCompressed(sniffed.kind, reader, context)
  const wave = await openWave(reader, context)
  return 'blocks' in wave ? wave : through('a WAV file with another codec', wave.header)
}

/** Maximum zero padding before the first frame of an MP3, bytes. */
const maxPadding = 64 << 10

/** True if an MP3 follows zero padding. */
async function isPaddedMp3(reader: ByteReader): Promise<boolean> {
  const bytes = await reader.peek(maxPadding + sniffLength)
  const start = bytes.findIndex((byte) => byte !== 0)
  if (start < 1 || start > maxPadding) return false
  const found = bytes.subarray(start)
  return id3Length(found) > 0 || sniff(found).kind === 'mp3'
}

/** The unread bytes, preceded by a header if one was already read. */
async function* rest(reader: ByteReader, head: Buffer | undefined): AsyncGenerator<Uint8Array, void, undefined> {
  if (head !== undefined) yield head
  yield* reader.rest()
}

/** Decodes the first chunk, so that an empty recording is rejected immediately. */
async function startStream(
  sound: Sound,
  reader: ByteReader,
  {sampleRate, signal, channel}: OpenAudioOptions,
  context: DecoderContext,
): Promise<AudioStream> {
  const pieces = resampled(sound, sampleRate, new MixDown(channel), context)[Symbol.asyncIterator]()
  const first = await pieces.next()
  if (first.done) throw new SvcError('audio_empty', {file: context.name})

  async function* all() {
    try {
      yield first.value as Float32Array
      for (;;) {
        signal?.throwIfAborted()
        const next = await pieces.next()
        if (next.done) return
        yield next.value
      }
    } catch (error) {
      throw failure(error, signal)
    } finally {
      await close()
    }
  }
  const close = async () => {
    await pieces.return(undefined)
    await reader.close()
  }
  return {
    sampleRate,
    source: sound.source,
    durationSec: sound.durationSec,
    [Symbol.asyncIterator]: () => closedUnread(all(), close),
  }
}

/** Calls `close` if a generator returns before its first value, because its `finally` block does not run then. */
function closedUnread<T>(
  values: AsyncGenerator<T, void, undefined>,
  close: () => Promise<void>,
): AsyncIterator<T, void, undefined> {
  let isRead = false
  return {
    next: () => {
      isRead = true
      return values.next()
    },
    return: async () => {
      if (!isRead) await close()
      return values.return()
    },
  }
}

/**
 * Samples at the output rate in chunks of at most 1 s. Non-finite samples become silence. Samples are clipped to -1 to 1,
 * because lossy decoders and the resampler may overshoot.
 */
async function* resampled(
  {source, blocks}: Sound,
  sampleRate: number,
  mixDown: MixDown,
  {name, warn}: DecoderContext,
): AsyncGenerator<Float32Array, void, undefined> {
  let from = source.sampleRate
  let rate = resampler(from, sampleRate)
  let warned = false
  for await (const block of blocks) {
    const piece = mixDown.mix(block)
    if (silenceNonFinite(piece) && !warned) {
      warned = true
      warn({code: 'audio_not_finite', message: `${name} contains non-finite samples; they are replaced with silence.`})
    }
    if (block.sampleRate !== from) {
      yield* inPieces(rate.flush(), sampleRate)
      from = block.sampleRate
      rate = resampler(from, sampleRate)
    }
    yield* inPieces(rate.push(piece), sampleRate)
  }
  yield* inPieces(rate.flush(), sampleRate)
  const {oppositeSec} = mixDown
  if (oppositeSec > 0) {
    const message = `The two channels of ${name} cancel each other for ${oppositeSec.toFixed(1)} s, because their phase is opposite; only channel 1 is used there.`
    warn({code: 'channels_opposite', message})
  }
}

function* inPieces(samples: Float32Array, max: number): Generator<Float32Array, void, undefined> {
  for (let i = 0; i < samples.length; i++) if (Math.abs(samples[i]!) > 1) samples[i] = Math.sign(samples[i]!)
  for (let at = 0; at < samples.length; at += max) yield samples.subarray(at, at + max)
}

/** Replaces non-finite samples with 0; returns true if there were any. */
function silenceNonFinite(samples: Float32Array): boolean {
  let found = false
  for (let i = 0; i < samples.length; i++)
    if (!Number.isFinite(samples[i]!)) {
      samples[i] = 0
      found = true
    }
  return found
}

const extensions: ReadonlySet<string> = new Set(audioExtensions)

/** True if a file is audio or video by its content. @throws if it cannot be read */
export async function hasAudioContent(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const {buffer, bytesRead} = await file.read(Buffer.alloc(sniffLength), 0, sniffLength, 0)
    return isCertainlyAudio(buffer.subarray(0, bytesRead))
  } finally {
    await file.close()
  }
}

/** True if a file name has an audio or video extension. */
export const isAudioFile = (name: string): boolean =>
  !basename(name).startsWith('.') && extensions.has(extname(name).slice(1).toLowerCase())
