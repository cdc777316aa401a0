import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  type NeuralVadOptions,
  neuralVad,
  type SpeechRegion,
  type VadModel,
  type VoiceActivityDetector,
} from '../../src/audio/index.js'
import {openVadModel} from '../../src/speech/model/neural-vad.js'
import {sharedData, skipWithout} from '../support/project.js'
import {atLevel, pinkNoise, readClip} from '../support/sounds.js'

async function regionsOf(vad: VoiceActivityDetector, sound: Float32Array, piece = 5000): Promise<SpeechRegion[]> {
  const regions: SpeechRegion[] = []
  for (let at = 0; at < sound.length; at += piece) regions.push(...(await vad.push(sound.subarray(at, at + piece))))
  return [...regions, ...(await vad.flush())]
}

/** A fake model that reports voice for positive samples, and counts its runs in its state. */
function modelOf(signature: 'h and c' | 'state'): VadModel & {frames: Float32Array[]; counts: number[]} {
  const frames: Float32Array[] = []
  const counts: number[] = []
  const [memory, output, probability] =
    signature === 'state' ? ['state', 'stateN', 'output'] : ['h', 'hn', 'speech_probs']
  return {
    frames,
    counts,
    inputNames: signature === 'state' ? ['input', 'state', 'sr'] : ['input', 'h', 'c'],
    async run(feeds, fetches) {
      const sound = feeds.input?.data as Float32Array
      const state = Float32Array.from(feeds[memory ?? '']?.data as Float32Array)
      counts.push(state[0]!)
      state[0]! += 1
      frames.push(sound)
      assert.deepEqual(feeds.input?.dims, [1, 576])
      if (signature === 'state') assert.deepEqual(feeds.sr?.data, BigInt64Array.of(16_000n))
      const voiced = sound.subarray(64).some((x) => x > 0)
      const results: Record<string, Float32Array> = {
        [probability ?? '']: Float32Array.of(voiced ? 0.9 : 0.1),
        [output ?? '']: state,
      }
      return Object.fromEntries(fetches.map((name) => [name, results[name] ?? new Float32Array(128)]))
    },
  }
}

describe('neuralVad', () => {
  const sound = new Float32Array(16_000 * 4).map((_, i) => ((i > 16_000 && i < 32_000) || i > 56_000 ? 0.5 : -0.5))

  for (const signature of ['h and c', 'state'] as const)
    it(`feeds frames with context and the previous state, with the inputs ${signature}`, async () => {
      const model = modelOf(signature)
      const regions = await regionsOf(neuralVad(model), sound)
      assert.equal(model.frames.length, 125)
      assert.deepEqual(
        model.counts,
        Array.from({length: 125}, (_, i) => i),
      )
      for (const [i, frame] of model.frames.entries())
        if (i > 0) assert.deepEqual(frame.subarray(0, 64), model.frames[i - 1]?.subarray(512))
      assert.deepEqual(
        regions.map(({start, end}) => [start >> 9, end >> 9]),
        [
          [31, 63],
          [109, 125],
        ],
      )
    })

  it('returns the same regions for any chunk size', async () => {
    const whole = await regionsOf(neuralVad(modelOf('state')), sound, sound.length)
    assert.deepEqual(await regionsOf(neuralVad(modelOf('state')), sound, 100), whole)
  })

  it('continues from a snapshot, which later audio does not change', async () => {
    const whole = await regionsOf(neuralVad(modelOf('state')), sound)
    const first = neuralVad(modelOf('state'))
    const cut = Math.round(sound.length / 2)
    const before = await first.push(sound.subarray(0, cut))
    const state = first.snapshot()
    await first.push(sound)
    const after = await regionsOf(neuralVad(modelOf('state'), {state}), sound.subarray(cut))
    assert.deepEqual([...before, ...after], whole)
  })

  it('has the threshold, the shortest and the longest speech, and the shortest silence of faster-whisper', async () => {
    const lengths = async (options: NeuralVadOptions) =>
      (await regionsOf(neuralVad(modelOf('state'), options), sound)).map(({start, end}) => (end - start) >> 9)
    assert.deepEqual(await lengths({}), [32, 16])
    assert.deepEqual(await lengths({threshold: 0.95}), [])
    assert.deepEqual(await lengths({threshold: 0.12}), [98], 'speech goes on at a probability of 0.1')
    assert.deepEqual(await lengths({minSpeechMs: 520}), [32])
    assert.deepEqual(await lengths({minSpeechMs: 1030}), [])
    assert.deepEqual(await lengths({mergeGapMs: 2000}), [94])
    assert.ok((await lengths({maxRegionSec: 0.5})).every((frames) => frames <= 16))
  })

  it('rejects a model with other inputs', () => {
    assert.throws(() => neuralVad({...modelOf('state'), inputNames: ['x']}), TypeError)
  })

  it('finds sentences and ignores noise with the published model', {
    skip: skipWithout('vad/silero_vad_v6.onnx'),
  }, async () => {
    const model = await openVadModel(sharedData('vad/silero_vad_v6.onnx') ?? '')
    try {
      const clip = await readClip(sharedData('clips/jfk.wav') ?? '')
      const starts = (await regionsOf(model.detector({}), clip)).map(({start}) => start / 16_000)
      assert.equal(starts.length, 4)
      for (const [i, expected] of [0.32, 3.3, 5.44, 8.22].entries()) assert.ok(Math.abs(starts[i]! - expected) < 0.1)
      assert.deepEqual(await regionsOf(model.detector({}), atLevel(pinkNoise(160_000), -20)), [])
    } finally {
      await model.release()
    }
  })

  it('rejects a file that is not a model or does not exist', async () => {
    await assert.rejects(openVadModel(import.meta.filename), {code: 'model_file_invalid'})
    await assert.rejects(openVadModel('/nowhere.onnx'), {code: 'file_not_found'})
  })
})
