import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {logMel} from '../../../src/audio/index.js'
import {randomSource} from '../../../src/sampling/index.js'
import {constraintCompiler} from '../../../src/speech/constraints/compile.js'
import {defaultTranscribeOptions} from '../../../src/speech/index.js'
import type {DecodingConstraints} from '../../../src/speech/model/model.js'
import {decodeWindow} from '../../../src/speech/whisper/decode-window.js'
import {openGraphNetwork} from '../../../src/speech/whisper/graph-network.js'
import type {AudioContext, DecoderRun} from '../../../src/speech/whisper/network.js'
import {readWhisperFolder} from '../../../src/speech/whisper/open-whisper.js'
import {buildPrompt} from '../../../src/speech/whisper/prompt.js'
import {embeddingTensor, withQuantized} from '../../../src/speech/whisper/quantized-tensors.js'
import {whisperText} from '../../../src/speech/whisper/text-vocabulary.js'
import {readShards} from '../../../src/weights/index.js'
import {constraintsOf} from '../../support/constraints.js'
import {microData, writeMicroWhisper} from '../../support/micro-whisper.js'
import {skipWithout} from '../../support/project.js'
import {seeded} from '../../support/random.js'
import {randomFloats} from '../../support/random-floats.js'
import {temporaryFolder} from '../../support/temporary.js'
import {wideWords, writeWideWhisper} from '../../support/wide-whisper.js'

/** Opens a model with 8-bit matrices, the vocabulary as `copy`, and encodes noise. */
async function open(test: TestContext, write: (folder: string) => Promise<void>, copy: keyof typeof largest) {
  const folder = join(await temporaryFolder(test), 'model')
  await write(folder)
  const {config, vocabulary} = await readWhisperFolder(folder)
  const cache = {folder: join(folder, 'cache'), model: folder, threads: 1}
  const tensors = await withQuantized(await readShards(folder), cache, largest[copy])
  assert.ok(tensors.has(`${embeddingTensor}.${copy}`))
  const network = await openGraphNetwork(config, tensors, {
    threads: 1,
    device: 'cpu',
    alignmentHeads: [[1, 0]],
    textTokens: vocabulary.endOfText,
  })
  test.after(() => network.release())
  const frames = 2 * config.audioPositions
  const mel = logMel(
    randomFloats(7)(24_000).map((x) => 0.1 * x),
    {bins: config.melBins, frames},
  )
  return {config, vocabulary, audio: await network.encode(mel, frames)}
}

/** The same decoding with the logits of the checkpoint at each step. */
const exactly = (audio: AudioContext): AudioContext => ({
  positions: audio.positions,
  decode(options): DecoderRun {
    const run = audio.decode(options)
    return {
      get rows() {
        return run.rows
      },
      get length() {
        return run.length
      },
      wholeHeads: 0,
      prefill: async (...given) => (await run.prefill(...given)).map((row) => row.whole()),
      step: async (...given) => (await run.step(...given)).map((row) => row.whole()),
      select: (sources) => run.select(sources),
    }
  },
})

/** Largest values of quantised columns with which the vocabulary has these copies. */
const largest = {columns: 63, blocks: 127} as const
const copies = Object.keys(largest) as (keyof typeof largest)[]

const models: Record<string, {write: (folder: string) => Promise<void>; skip: string | false; certain: number}> = {
  'random weights in 32 bits': {write: (folder) => writeWideWhisper(folder, 'F32'), skip: false, certain: 60},
  'random weights in 16 bits': {write: (folder) => writeWideWhisper(folder, 'F16'), skip: false, certain: 60},
  'a trained model': {write: writeMicroWhisper, skip: skipWithout(microData), certain: 80},
}

describe('the most likely tokens of a quantised vocabulary matrix', () => {
  const cases = Object.entries(models).flatMap(([name, model]) => copies.map((copy) => ({name, copy, ...model})))
  for (const {name, copy, write, skip, certain} of cases)
    it(`are those of the checkpoint whenever they are certain: ${name} as ${copy}`, {skip}, async (test) => {
      const {audio, vocabulary, config} = await open(test, write, copy)
      const random = randomSource(3)
      const token = () => Math.floor(random() * vocabulary.endOfText)
      let [states, sure] = [0, 0]
      while (states < 80) {
        const run = audio.decode({allLogits: false, suppressed: []})
        await run.prefill([token()], [0])
        run.select([0, 0, 0, 0])
        while (run.length < config.textPositions && states < 80) {
          for (const row of await run.step(Array.from({length: 4}, token))) {
            const exact = row.whole()
            states++
            for (const count of [1, 6]) {
              if (!row.isCertain(count)) continue
              if (count === 1) sure++
              assert.deepEqual(row.mostLikely(count), exact.mostLikely(count))
            }
            const [highest, most] = [row.highest(), exact.highest()]
            const apart = row.logSumExpAbove(highest) - exact.logSumExpAbove(most)
            assert.ok(Math.abs(apart) < 5e-3, `log-sum-exp: ${apart}`)
          }
        }
      }
      assert.ok(sure >= certain, `${sure} of ${states} are certain`)
    })

  for (const [name, spread, copy] of [
    ['differ', 1, 'blocks'],
    ['are nearly equal', 0.01, 'blocks'],
    ['differ', 1, 'columns'],
  ] as const)
    it(`are the same in a window as with all logits of the checkpoint, if rows of ${copy} ${name}`, async (test) => {
      const {audio, vocabulary, config} = await open(test, (folder) => writeWideWhisper(folder, 'F16', spread), copy)
      const {below} = seeded(11)
      const phrases = () => Array.from({length: below(4)}, () => wideWords[below(wideWords.length)]!)
      const compile = constraintCompiler(whisperText(vocabulary))
      let wholeHeads = 0
      // All combinations of timestamps, constraints and beam widths.
      for (let i = 0; i < 12; i++) {
        const changes: Partial<DecodingConstraints> = {
          bias: phrases(),
          biasStrength: below(4),
          biasMaxTokens: 20,
          forbidden: [below(wideWords.length)],
          phrases: below(3) === 0 ? phrases() : [],
          stuckSteps: 1 + below(2),
        }
        const limits = {
          timestamps: i % 2 === 0,
          context: config.textPositions,
          maxTokens: 8,
          constraints: i % 4 < 2 ? compile(constraintsOf(changes)) : undefined,
        }
        const prompt = buildPrompt(
          vocabulary,
          {language: 'en', task: 'transcribe'},
          {hotwords: [], previousTokens: [below(wideWords.length), below(wideWords.length)]},
          limits,
        )
        const options = {
          ...defaultTranscribeOptions,
          temperatures: [0],
          beamSize: [1, 3, 5][i % 3]!,
          noSpeechThreshold: 1,
        }
        const fast = await decodeWindow(audio, vocabulary, prompt, options, limits)
        const exact = await decodeWindow(exactly(audio), vocabulary, prompt, options, limits)
        assert.deepEqual(fast.tokens, exact.tokens, JSON.stringify({i, changes}))
        for (const [at, logprob] of fast.logprobs.entries())
          assert.ok(Math.abs(logprob - exact.logprobs[at]!) < 5e-3, `${at}: ${logprob} and ${exact.logprobs[at]}`)
        wholeHeads += fast.wholeHeads
      }
      if (spread < 1) assert.ok(wholeHeads > 0, 'some choices are too close')
    })
})
