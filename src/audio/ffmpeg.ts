import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {SvcError} from '../errors/index.js'
import {decodePcm} from './pcm.js'
import type {DecoderContext, Sound} from './sound.js'

export type FfmpegInput = {path: string} | {bytes: AsyncIterable<Uint8Array>}

/** Most that is kept of what ffmpeg says, characters. */
const mostStderr = 4096

/**
 * A recording that the program ffmpeg decodes, mixes down and resamples. It is given a path or bytes, never a command
 * line, and may open files and pipes alone.
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
  const from = piped ? 'pipe:0' : `file:${input.path}`
  const child = spawn(
    'ffmpeg',
    [
      ...['-nostdin', '-v', 'error', '-protocol_whitelist', 'file,pipe', '-i', from],
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
  if (piped) void feed(input.bytes, child)

  async function* samples() {
    try {
      yield* wholeSamples(child.stdout as AsyncIterable<Buffer>)
      const [code] = await ended
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

/** Gives ffmpeg the bytes as fast as it takes them; it may stop listening before the end. */
async function feed(bytes: AsyncIterable<Uint8Array>, {stdin}: ReturnType<typeof spawn>): Promise<void> {
  stdin?.on('error', () => undefined)
  try {
    for await (const piece of bytes) {
      if (stdin === null || stdin.destroyed) return
      if (!stdin.write(piece)) await Promise.race([once(stdin, 'drain'), once(stdin, 'close')])
    }
  } catch {
    // Its reader failed; ffmpeg sees the end of its input and says so.
  } finally {
    stdin?.end()
  }
}
