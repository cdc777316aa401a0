import {once} from 'node:events'
import type {Writable} from 'node:stream'
import {SvcError} from '../errors/index.js'
import {type AudioTrack, describeTracks, selectTrack} from './audio-track.js'
import {ByteReader} from './byte-reader.js'
import {FfmpegLog} from './ffmpeg-log.js'
import type {DecoderContext, Sound} from './sound.js'
import {openWave} from './wave.js'

export type FfmpegInput =
  | {path: string}
  /** `seeks` is set if the index may be at the end of the file. */
  | {bytes: AsyncIterable<Uint8Array>; seeks: boolean}

/**
 * Decodes and resamples a recording with ffmpeg. ffmpeg writes a WAV stream, so channels are mixed down or selected as for any
 * other file. Its input is a path or bytes, never a shell command; with bytes, it must not open files. Errors that it reports
 * while it continues become warnings, and so does audio that is shorter than the container declares.
 * @param format completes the sentence "it is …"
 * @throws decoder_unavailable, audio_invalid, audio_track_missing, audio_track_unknown, audio_tracks_need_file
 */
export async function openFfmpeg(
  input: FfmpegInput,
  format: string,
  sampleRate: number,
  context: DecoderContext,
): Promise<Sound> {
  const {name, warn, signal, track: choice} = context
  const piped = 'bytes' in input
  const {execa} = await import('execa')
  const number = typeof choice === 'object' ? await trackOfLanguage(input, choice, format, context) : choice
  signal?.throwIfAborted()
  const child = execa(
    'ffmpeg',
    [
      ...['-nostdin', '-hide_banner', '-nostats', '-v', 'level+info', ...source(input)],
      ...(number === undefined ? [] : ['-map', `0:a:${number - 1}`]),
      ...['-vn', '-af', timeline(sampleRate), '-c:a', 'pcm_f32le', '-f', 'wav', 'pipe:1'],
    ],
    {
      stdin: piped ? 'pipe' : 'ignore',
      buffer: false,
      reject: false,
      cleanup: false,
      ...(signal === undefined ? {} : {cancelSignal: signal}),
    },
  )
  if (child.pid === undefined) {
    const {code, cause} = await child
    throw code === 'ENOENT' ? new SvcError('decoder_unavailable', {file: name, format}) : cause
  }
  const log = new FfmpegLog(context.onTracks)
  child.stderr.setEncoding('utf8').on('data', (text: string) => log.read(text))
  // Without a reader, the output would be dropped.
  child.stdout.pause()
  let fault: {error: unknown} | undefined
  if (piped)
    void feed(input.bytes, child.stdin).catch((error: unknown) => {
      fault = {error}
    })
  /** Throws an error if nothing was decoded; a failure after some audio is reported as damage. */
  const end = async (count: number) => {
    const {exitCode} = await child
    signal?.throwIfAborted()
    if (fault !== undefined) throw fault.error
    if (number !== undefined && number > log.tracks.length && !log.isWithoutAudio && log.tracks.length > 0)
      throw unknownTrack(name, number, log.tracks)
    if (exitCode !== 0 && count === 0)
      throw log.isWithoutAudio
        ? new SvcError('audio_track_missing', {file: name})
        : new SvcError('audio_invalid', {file: name, reason: log.reason})
    const damage = log.damage(count / sampleRate) ?? (exitCode === 0 ? undefined : log.reason)
    if (damage !== undefined) warn({code: 'audio_damaged', message: `${name} is damaged: ${damage}.`})
  }
  const stop = () => {
    if (child.exitCode === null) child.kill('SIGKILL')
  }
  const reader = new ByteReader(child.stdout)
  try {
    if ((await reader.peek(1)).length === 0) await end(0)
    const wave = await openWave(reader, {...context, fileBytes: undefined})
    if (!('blocks' in wave)) throw new Error('ffmpeg returned a different encoding than requested.')
    return {...wave, source: {...wave.source, container: 'ffmpeg', codec: format}, blocks: blocks(wave)}
  } catch (error) {
    stop()
    signal?.throwIfAborted()
    throw error
  }

  async function* blocks(wave: Sound) {
    let count = 0
    try {
      for await (const block of wave.blocks) {
        count += block.channels[0]?.length ?? 0
        yield block
      }
      await end(count)
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    } finally {
      stop()
    }
  }
}

const unknownTrack = (file: string, track: number | string, tracks: readonly AudioTrack[]) =>
  new SvcError('audio_track_unknown', {file, track, tracks: describeTracks(tracks)})

/** Number of the track with a language. */
async function trackOfLanguage(
  input: FfmpegInput,
  choice: Exclude<DecoderContext['track'], number | undefined>,
  format: string,
  context: DecoderContext,
): Promise<number> {
  if (!('path' in input)) throw new SvcError('audio_tracks_need_file', {file: context.name})
  const {tracks} = await readTracks(input.path, format, context)
  const track = selectTrack(tracks, choice)
  if (track === undefined) throw unknownTrack(context.name, choice.name, tracks)
  return track.number
}

/**
 * Reads the audio tracks of a file, and its duration in seconds, without decoding it.
 * @throws decoder_unavailable, audio_invalid, audio_track_missing
 */
async function readTracks(
  path: string,
  format: string,
  {name, signal}: Pick<DecoderContext, 'name' | 'signal'>,
): Promise<{tracks: readonly AudioTrack[]; durationSec: number | undefined}> {
  const {execa} = await import('execa')
  const options = {reject: false, stdin: 'ignore', stdout: 'ignore', ...(signal && {cancelSignal: signal})} as const
  const args = ['-nostdin', '-hide_banner', '-v', 'level+info', ...source({path})]
  const {stderr, code, cause} = await execa('ffmpeg', args, options)
  signal?.throwIfAborted()
  if (code !== undefined) throw code === 'ENOENT' ? new SvcError('decoder_unavailable', {file: name, format}) : cause
  const log = new FfmpegLog()
  log.read(`${stderr}\n`)
  if (log.tracks.length > 0) return {tracks: log.tracks, durationSec: log.wholeSec}
  throw log.isWithoutAudio
    ? new SvcError('audio_track_missing', {file: name})
    : new SvcError('audio_invalid', {file: name, reason: log.reason})
}

/**
 * Resamples, and keeps the times of the container: a delay of the track and gaps in its timestamps become silence. Because
 * `async` also cuts audio whose timestamps go back or are too dense, each frame first starts no earlier than the previous
 * one ends. The quotes are syntax of ffmpeg; no shell reads them.
 */
const timeline = (sampleRate: number) =>
  `asetpts='st(1,max(PTS,ld(0)));st(0,ld(1)+NB_SAMPLES/SR/TB);ld(1)',aresample=${sampleRate}:async=1:first_pts=0`

/**
 * Otherwise, the first audio frame of MPEG streams is at 0, not the first frame of the video. For formats whose
 * timestamps can jump, ffmpeg computes the start from the tracks that it decodes, unless the input has an offset. The
 * offset is less than a sample.
 */
const keepsStart = ['-itsoffset', '0.000001']

/** The `cache` protocol stores the input in an unlinked temporary file, so that ffmpeg can seek back. */
function source(input: FfmpegInput): string[] {
  return [...keepsStart, ...sourceOf(input)]
}

function sourceOf(input: FfmpegInput): string[] {
  if ('path' in input) return ['-protocol_whitelist', 'file,pipe', '-i', `file:${input.path}`]
  if (!input.seeks) return ['-protocol_whitelist', 'pipe', '-i', 'pipe:0']
  return ['-protocol_whitelist', 'cache,pipe', '-read_ahead_limit', '-1', '-i', 'cache:pipe:0']
}

/** Writes the bytes as fast as ffmpeg reads them; it may stop early. Throws the errors of their source. */
async function feed(bytes: AsyncIterable<Uint8Array>, stdin: Writable | null): Promise<void> {
  stdin?.on('error', () => undefined)
  try {
    for await (const piece of bytes) {
      if (stdin === null || stdin.destroyed) return
      // A broken pipe is not an error of the source: ffmpeg has reported the reason, or needs no more input.
      if (!stdin.write(piece)) await Promise.race([once(stdin, 'drain'), once(stdin, 'close')]).catch(() => undefined)
    }
  } finally {
    stdin?.end()
  }
}
