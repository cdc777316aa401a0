import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {SvcError} from '../errors/index.js'
import {decodePcm} from './pcm.js'
import type {DecoderContext, Sound} from './sound.js'

export type FfmpegInput =
  | {path: string}
  /** `seeks` where the format may keep what comes first at its end. */
  | {bytes: AsyncIterable<Uint8Array>; seeks: boolean}

/** Most that is kept of what ffmpeg says, characters. */
const mostStderr = 4096

/**
 * A recording that the program ffmpeg decodes, mixes down and resamples. It is given a path or bytes, never a command
 * line; given bytes, it may open no file, whatever they say.
 * @param format ends the sentence "it is …"
 * @throws decoder_unavailable
 */
export async function openFfmpeg(
  input: FfmpegInput,
  format: string,
  sampleRate: number,
  context: DecoderContext,
): Promise<Sound> {
  const {name, signal} = context
  const piped = 'bytes' in input
  const child = spawn(
    'ffmpeg',
    [
      ...['-nostdin', '-v', 'error', ...source(input)],
      ...['-vn', '-ac', '1', '-ar', String(sampleRate), '-f', 'f32le', 'pipe:1'],
    ],
    {stdio: [piped ? 'pipe' : 'ignore', 'pipe', 'pipe'], ...(signal === undefined ? {} : {signal})},
  )
  let complaint = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-mostStderr)
  })
  const ended = once(child, 'close') as Promise<[code: number | null]>
  ended.catch(() => undefined)
  await once(child, 'spawn').catch((error: NodeJS.ErrnoException) => {
    signal?.throwIfAborted()
    throw error.code === 'ENOENT' ? new SvcError('decoder_unavailable', {file: name, format}) : error
  })
  let fault: {error: unknown} | undefined
  if (piped)
    void feed(input.bytes, child).catch((error: unknown) => {
      fault = {error}
    })

  async function* samples() {
    try {
      yield* wholeSamples(child.stdout as AsyncIterable<Buffer>)
      const [code] = await ended
      if (fault !== undefined) throw fault.error
      if (code !== 0) throw new SvcError('audio_invalid', {file: name, reason: reasonOf(complaint)})
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    } finally {
      if (child.exitCode === null) child.kill('SIGKILL')
    }
  }
  return {
    source: {container: 'ffmpeg', codec: format, sampleRate, channels: 1},
    durationSec: undefined,
    samples: samples(),
  }
}

/** What goes through its cache is kept in a file without a name, in which it can go back. */
function source(input: FfmpegInput): string[] {
  if ('path' in input) return ['-protocol_whitelist', 'file,pipe', '-i', `file:${input.path}`]
  if (!input.seeks) return ['-protocol_whitelist', 'pipe', '-i', 'pipe:0']
  return ['-protocol_whitelist', 'cache,pipe', '-read_ahead_limit', '-1', '-i', 'cache:pipe:0']
}

/** Its last line says what went wrong; paths and addresses in front of it do not help. */
function reasonOf(complaint: string): string {
  const line = complaint.trim().split('\n').at(-1) ?? ''
  const reason = line.replace(/^\[[^\]]*\]\s*/, '').replace(/\.$/, '')
  return reason === '' ? 'ffmpeg failed' : `ffmpeg says: ${reason}`
}

async function* wholeSamples(bytes: AsyncIterable<Buffer>): AsyncGenerator<Float32Array, void, undefined> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const piece of bytes) {
    const all = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    const whole = all.length - (all.length % 4)
    if (whole > 0) yield decodePcm(all.subarray(0, whole), {encoding: 'f32le', channels: 1, frameBytes: 4})
    rest = all.subarray(whole)
  }
}

/** Gives ffmpeg the bytes as fast as it takes them; it may stop listening before the end. Throws what they throw. */
async function feed(bytes: AsyncIterable<Uint8Array>, {stdin}: ReturnType<typeof spawn>): Promise<void> {
  stdin?.on('error', () => undefined)
  try {
    for await (const piece of bytes) {
      if (stdin === null || stdin.destroyed) return
      // A pipe that breaks is no fault of the bytes: ffmpeg has said what is wrong, or has heard enough.
      if (!stdin.write(piece)) await Promise.race([once(stdin, 'drain'), once(stdin, 'close')]).catch(() => undefined)
    }
  } finally {
    stdin?.end()
  }
}
