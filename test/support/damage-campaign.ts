import assert from 'node:assert/strict'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {type AudioWarning, openAudio} from '../../src/audio/index.js'
import {randomSource} from '../../src/sampling/index.js'
import {decodeAnyway, ffmpeg} from './ffmpeg.js'
import {sine, sumOf, whiteNoise} from './sounds.js'
import {waveFile} from './wave-file.js'

/** ffmpeg options for each format. */
export const damagedFormats: Readonly<Record<string, readonly string[]>> = {
  wav: [],
  flac: [],
  mp3: [],
  ogg: ['-c:a', 'libvorbis'],
  opus: ['-c:a', 'libopus'],
  m4a: ['-c:a', 'aac'],
  aiff: [],
  caf: ['-c:a', 'pcm_s16be'],
  webm: ['-c:a', 'libopus'],
}

const rate = 16_000
/** Duration of the recording, seconds. */
const wholeSec = 4
/** Permitted loss without a warning, seconds. */
const tolerance = 0.3

/** A recording of a tone and noise in a format. */
async function recording(format: string, folder: string): Promise<Buffer> {
  const tone = sumOf(
    sine(300, wholeSec * rate, {level: 0.3}),
    whiteNoise(wholeSec * rate).map((x) => 0.02 * x),
  )
  const path = join(folder, `whole.${format}`)
  const wave = waveFile({channels: [tone, tone], sampleRate: rate, encoding: 's16le'})
  ffmpeg(
    wave,
    ...(damagedFormats[format] ?? []),
    '-ar',
    format === 'webm' || format === 'opus' ? '48000' : '22050',
    path,
  )
  return readFile(path)
}

/** Flips, cuts, removes, inserts or clears bytes at a random position. */
function mutated(bytes: Buffer, uniform: () => number): Buffer {
  const upTo = (count: number) => Math.floor(uniform() * count)
  const at = upTo(bytes.length)
  const length = 1 + upTo(Math.min(5000, bytes.length / 10))
  const flip = (copy: Buffer, place: number) => {
    copy[place]! ^= 1 + upTo(255)
    return copy
  }
  const changes: readonly (() => Buffer)[] = [
    () => flip(Buffer.from(bytes), at),
    () => Array.from({length: 20}).reduce<Buffer>((copy) => flip(copy, upTo(bytes.length)), Buffer.from(bytes)),
    () => bytes.subarray(0, at),
    () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]),
    () =>
      Buffer.concat([bytes.subarray(0, at), Buffer.from(Array.from({length}, () => upTo(256))), bytes.subarray(at)]),
    () => Buffer.from(bytes).fill(0, at, at + length),
  ]
  return (changes[upTo(changes.length)] as () => Buffer)()
}

/**
 * Damages a recording repeatedly. Asserts that without a warning or an error the result is at least as long as the
 * recording and as the result of ffmpeg.
 * @param seeds of the damage, `to` excluded
 */
export async function assertNoSilentLoss(format: string, folder: string, [from, to]: [number, number]): Promise<void> {
  const whole = await recording(format, folder)
  const path = join(folder, `damaged.${format}`)
  for (let seed = from; seed < to; seed++) {
    await writeFile(path, mutated(whole, randomSource(seed)))
    const warnings: AudioWarning[] = []
    const seconds = await decodedSeconds(path, warnings).catch((error: Error & {code?: string}) => {
      assert.match(error.code ?? '', /^audio_/, `${format}, seed ${seed}: ${error.stack}`)
      return undefined
    })
    if (seconds === undefined || warnings.length > 0) continue
    const least = Math.max(wholeSec, referenceSeconds(path)) - tolerance
    assert.ok(seconds >= least, `${format}, seed ${seed}: ${seconds} s in place of ${least} s`)
  }
}

async function decodedSeconds(path: string, warnings: AudioWarning[]): Promise<number> {
  const audio = await openAudio({path}, {sampleRate: rate, onWarning: (warning) => warnings.push(warning)})
  let samples = 0
  for await (const piece of audio) samples += piece.length
  return samples / rate
}

/** Duration of the audio that ffmpeg decodes from a file, even if it fails partway. */
function referenceSeconds(path: string): number {
  const args = ['-vn', '-ac', '1', '-ar', String(rate), '-f', 's16le', 'pipe:1']
  return decodeAnyway(path, ...args).length / 2 / rate
}
