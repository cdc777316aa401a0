import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {deserialize, serialize} from 'node:v8'
import {energyVad, type SpeechRegion} from '../../src/audio/index.js'
import {microClips, microData} from '../support/micro-whisper.js'
import {sharedData, skipWithout} from '../support/project.js'
import {atLevel, clicks, hum, joined, pinkNoise, readClip, sine, sumOf, whiteNoise} from '../support/sounds.js'
import {assertHearsDigits, regionsOf} from '../support/speech-regions.js'

/** 30 s: longer than the window of the background estimate. */
const length = 480_000

describe('energyVad: recordings without speech', () => {
  const [noise, white, mains, tone] = [pinkNoise(length), whiteNoise(length), hum(length), sine(440, length)]
  const sounds: Record<string, () => Float32Array> = {
    'digital silence': () => new Float32Array(length),
    'a constant offset': () => new Float32Array(length).fill(0.5),
    'clicks, one per second': () => clicks(length, 1),
    'clicks, ten per second': () => clicks(length, 10),
    'clicks in quiet noise': () => sumOf(clicks(length, 3), atLevel(noise, -50)),
    'a tone that starts and stops': () => tone.map((x, i) => (i > 160_000 && i < 400_000 ? x : 0)),
    'noise that starts and stops': () => atLevel(noise, -20).map((x, i) => (i > 160_000 && i < 400_000 ? x : 0)),
  }
  for (const level of [-60, -40, -20, -3]) {
    sounds[`pink noise at ${level} dB`] = () => atLevel(noise, level)
    sounds[`white noise at ${level} dB`] = () => atLevel(white, level)
    sounds[`mains hum at ${level} dB`] = () => atLevel(mains, level)
    sounds[`a tone at ${level} dB`] = () => atLevel(tone, level)
  }
  for (const [kind, sound] of Object.entries(sounds))
    it(`returns no region for ${kind}`, async () => assert.deepEqual(await regionsOf(sound()), []))

  const steady: Record<string, (samples: number, seed: number) => Float32Array> = {
    'pink noise': pinkNoise,
    'white noise': whiteNoise,
    'mains hum': hum,
    'a tone': (samples) => sine(440, samples),
  }
  for (const [kind, sound] of Object.entries(steady))
    it(`returns no region for ${kind} from the start, at any offset within a frame`, async () => {
      for (let offset = 0; offset < 160; offset += 40) {
        const burst = atLevel(sound(16_000, offset + 1), -15)
        for (const duration of [4800, 16_000]) {
          const recording = new Float32Array(80_000)
          recording.set(burst.subarray(0, duration), 32_000 + offset)
          assert.deepEqual(await regionsOf(recording), [])
        }
      }
    })

  it('returns no region for 50 ms of noise, or for no samples', async () => {
    assert.deepEqual(await regionsOf(sine(300, 800)), [])
    assert.deepEqual(await regionsOf(new Float32Array()), [])
  })
})

describe('energyVad: a recording with speech', {skip: skipWithout('clips/jfk.wav')}, () => {
  const jfk = () => readClip(sharedData('clips/jfk.wav') ?? '')
  const seconds = (regions: readonly SpeechRegion[]) =>
    regions.reduce((sum, {start, end}) => sum + end - start, 0) / 16_000

  it('returns one region per sentence', async () => {
    const regions = await regionsOf(await jfk())
    const starts = regions.map(({start}) => start / 16_000)
    assert.equal(regions.length, 4)
    for (const [i, expected] of [0.32, 3.29, 5.41, 8.19].entries()) assert.ok(Math.abs(starts[i]! - expected) < 0.06)
  })

  for (const ratio of [20, 10])
    it(`finds speech at a signal-to-noise ratio of ${ratio} dB`, async () => {
      const sound = await jfk()
      const power = sound.reduce((sum, x) => sum + x * x, 0) / sound.length
      const noise = atLevel(pinkNoise(sound.length), 10 * Math.log10(power) - ratio)
      assert.ok(seconds(await regionsOf(sumOf(sound, noise))) > 5.5)
    })

  it('returns the same regions for any chunk size', async () => {
    const sound = await jfk()
    const whole = await regionsOf(sound)
    for (const piece of [777, sound.length]) assert.deepEqual(await regionsOf(sound, {}, piece), whole)
  })

  it('continues from a snapshot at any position, which later audio does not change', async () => {
    const sound = await jfk()
    for (const live of [false, true]) {
      const whole = await regionsOf(sound, {live})
      for (const cut of [777, 20_000, 55_555, 100_000]) {
        const first = energyVad({live})
        const before = await first.push(sound.subarray(0, cut))
        const state = first.snapshot()
        await first.push(sound)
        const second = energyVad({live, state: deserialize(serialize(state))})
        const after = [...(await second.push(sound.subarray(cut))), ...(await second.flush())]
        assert.deepEqual([...before, ...after], whole, `${cut}`)
      }
    }
  })

  it('splits regions at the maximum length', async () => {
    const sound = await jfk()
    const regions = await regionsOf(sound, {maxRegionSec: 1, mergeGapMs: 2000})
    for (const {start, end} of regions) assert.ok(end - start <= 16_000)
    assert.ok(seconds(regions) > 6)
  })

  it('omits regions below the minimum length, as vad_min_speech_duration_ms of whisper.cpp', async () => {
    const sound = await jfk()
    const all = await regionsOf(sound)
    const [, second = 0] = all.map(({start, end}) => end - start).sort((a, b) => a - b)
    const kept = await regionsOf(sound, {minSpeechMs: second / 16})
    assert.ok(all.length > 2)
    assert.deepEqual(
      kept,
      all.filter(({start, end}) => end - start >= second),
    )
  })

  it('reports the open region and the settled position while streaming', async () => {
    const vad = energyVad()
    const sound = await jfk()
    let settled = 0
    for (let at = 0; at < sound.length; at += 1600) {
      const ended = await vad.push(sound.subarray(at, at + 1600))
      for (const {start} of ended) assert.ok(start >= settled)
      assert.ok(vad.settled >= settled && vad.settled <= at + 1600)
      if (vad.open !== undefined) assert.equal(vad.open.start, vad.settled)
      settled = vad.settled
    }
    assert.ok(settled > 8 * 16_000)
  })
})

describe('energyVad: spoken digits', {skip: skipWithout('fsdd')}, () => {
  // One or two recordings of each digit by each speaker; energy-vad.slow.ts uses more.
  it('misses none', () => assertHearsDigits(35))

  it('returns accurate starts with pauses of 0.3 s between digits', {skip: skipWithout(microData)}, async () => {
    const parts: Float32Array[] = []
    const starts: number[] = []
    for (const [i, {path}] of (await microClips()).entries()) {
      parts.push(new Float32Array(4800 + 160 * i))
      // The word begins 50 ms into its clip and ends before the clip does.
      starts.push(parts.reduce((sum, {length}) => sum + length, 0))
      const clip = (await readClip(path)).subarray(800)
      let end = clip.length
      while (Math.abs(clip[end - 1]!) < 0.01) end--
      parts.push(clip.slice(0, end))
    }
    const regions = await regionsOf(joined([...parts, new Float32Array(8000)]))
    assert.equal(regions.length, 30)
    for (const [i, {start}] of regions.entries())
      assert.ok(Math.abs(start - starts[i]!) <= 480, `${start - starts[i]!}`)
  })
})
