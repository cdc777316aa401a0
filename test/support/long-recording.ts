import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {microClips} from './micro-whisper.js'
import {joined, readClip} from './sounds.js'
import {svcInTurn} from './svc-in-turn.js'
import {monoWave} from './wave-file.js'

/** Flags for each way to split a recording: by voice activity, or into short or long overlapping chunks. */
export const chunkings = [[], ['--chunk-sec', '7', '--chunk-overlap-sec', '0.5'], ['--chunk-sec', '20']] as const

/** Clips with irregular pauses, and the start of each word, seconds. */
async function longRecording(seconds: number) {
  const clips = await microClips()
  const sounds = await Promise.all(clips.map(({path}) => readClip(path)))
  const parts: Float32Array[] = []
  const words: {word: string; startSec: number}[] = []
  let length = 0
  const add = (part: Float32Array) => {
    parts.push(part)
    length += part.length
  }
  for (let i = 0; length < seconds * 16_000; i++) {
    add(new Float32Array(Math.round((0.3 + 0.7 * ((i * 0.381966) % 1)) * 16_000)))
    const clip = (i * 7) % clips.length
    // Each word starts 50 ms after the start of its clip.
    words.push({word: clips[clip]?.words[0] ?? '', startSec: length / 16_000 + 0.05})
    add(sounds[clip] as Float32Array)
  }
  return {sound: joined(parts), words}
}

/** Transcribes a generated recording and asserts that every word occurs once, within 120 ms of its time. */
export async function assertHearsEveryWord(path: string, seconds: number, args: readonly string[]): Promise<void> {
  const {sound, words} = await longRecording(seconds)
  await writeFile(path, monoWave(sound))
  const {stdout} = await svcInTurn(['transcribe', path, '--word-timestamps', '--json', ...args])
  const heard: {word: string; start_ms: number}[] = JSON.parse(stdout).segments.flatMap(
    ({words: own}: {words: object[]}) => own,
  )
  assert.deepEqual(
    heard.map(({word}) => word),
    words.map(({word}) => word),
  )
  for (const [i, {startSec}] of words.entries()) {
    const startMs = heard[i]?.start_ms ?? Number.NaN
    assert.ok(Math.abs(startMs - 1000 * startSec) < 120, `word ${i}: ${startMs} ms, ${startSec} s`)
  }
}
