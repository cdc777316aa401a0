import assert from 'node:assert/strict'
import {appendFile, readFile, truncate, utimes, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {resolveSettings, speechAudioSettings, speechRefineSettings, speechSettings} from '../../../src/config/index.js'
import {
  ModelHolder,
  progressPath,
  type SpeechModel,
  type TranscribeHandlers,
  Transcriber,
  type TranscriberOptions,
  transcriberOptions,
  type WindowResult,
} from '../../../src/speech/index.js'
import {randomFloats} from '../../support/random-floats.js'
import {suiteFolder} from '../../support/temporary.js'
import {monoWave} from '../../support/wave-file.js'

const folder = suiteFolder()
const recording = join(folder, 'talk.wav')
const sources = {flags: {vad: 'none'}, env: {}}
const options = {
  ...transcriberOptions(
    {
      speech: resolveSettings(speechSettings, sources).values,
      audio: resolveSettings(speechAudioSettings, sources).values,
      refine: resolveSettings(speechRefineSettings, sources).values,
    },
    {entries: []},
    [],
  ),
  refine: false,
}

before(async () => {
  await writeFile(recording, monoWave(randomFloats(1)(24 * 16_000).map((x) => 0.3 * x)))
  await writeFile(join(folder, 'model'), 'weights')
})

/** A model whose text depends on the samples, the language and all text before, like that of Whisper. */
function modelOf(heard: {windows: number}): SpeechModel {
  return {
    description: {
      family: 'whisper',
      name: 'test',
      path: join(folder, 'model'),
      precision: 'f32',
      device: 'cpu',
      windowSec: 4,
      timestamps: true,
      wordTimings: true,
      languages: ['en', 'de'],
      translates: true,
      batch: 0,
      instances: 1,
      drafts: 'window',
    },
    async recognise(samples, {language, previousTokens = [], prompt = 'none'}, signal): Promise<WindowResult> {
      signal?.throwIfAborted()
      heard.windows++
      const sum = samples.reduce((total, x) => total + x, 0)
      const before = previousTokens.reduce((total, token) => total + token, 0)
      const text = ` ${language} ${prompt} ${before} ${sum}`
      const segment = {
        startSec: 0.1,
        endSec: 3.7,
        text,
        tokens: [Math.abs(Math.round(sum * 100)), 7],
        temperature: 0,
        avgLogprob: -Math.abs(sum) / 1000,
        compressionRatio: 1.1,
        noSpeechProb: 0.01,
        words: [{word: text, startSec: 0.1, endSec: 3.7, probability: 1 / 3}],
      }
      return {
        segments: [segment],
        consumedSec: 3.7,
        language: language ?? 'de',
        languageProbability: 0.9,
        noSpeech: false,
        temperature: 0,
        alternatives: [
          {text, score: -1},
          {text: ' other', score: -1.5},
        ],
        warnings: [{code: 'constraint_dropped', message: 'dropped'}],
        timings: {featuresMs: 1, encodeMs: 2, decodeMs: 3, wholeHeads: 0},
      }
    },
    detectLanguage: async () => [{language: 'de', probability: 0.9}],
    release: async () => undefined,
  }
}

interface Run {
  progress?: {path: string; resume: boolean}
  /** Number of finished windows after which the run is interrupted. */
  interruptAfter?: number
  decoding?: Partial<TranscriberOptions['decoding']>
  excerpt?: TranscribeHandlers['excerpt']
}

/** Transcribes the recording, and counts the windows that the model recognised. */
async function transcribe({progress, interruptAfter, decoding, excerpt}: Run) {
  const heard = {windows: 0}
  const holder = new ModelHolder({locate: () => assert.fail(), engine: engineOptions})
  holder.open = async () => ({engine: {...modelOf(heard), loadMs: 0}, loadMs: 0})
  const transcriber = new Transcriber({
    ...options,
    decoding: {...options.decoding, prompt: 'first', alternatives: 2, wordTimestamps: true, ...decoding},
    model: holder,
  })
  const stop = new AbortController()
  const warnings: string[] = []
  const onChunk = ({index}: {index: number}) => {
    if (index + 1 === interruptAfter) stop.abort(new Error('interrupted'))
  }
  const onWarning = ({code}: {code: string}) => void warnings.push(code)
  const file = await transcriber
    .transcribe({path: recording}, {progress, excerpt, onChunk, onWarning, signal: stop.signal})
    .catch((error: Error) => (error.message === 'interrupted' ? undefined : Promise.reject(error)))
  const {totalMs, loadMs, ...timings} = file?.recording?.timings ?? {totalMs: 0, loadMs: 0}
  return {outcome: {...file, recording: {...file?.recording, timings}, warnings}, windows: heard.windows}
}

const engineOptions = {threads: 1, device: 'cpu', precision: 'f32', backend: 'auto', derivedFolder: ''} as const

describe('the progress file of a transcription', () => {
  it('resumes after each window with the result of an uninterrupted run', async () => {
    const whole = await transcribe({})
    assert.ok(whole.windows > 5 && new Set(whole.outcome.transcript?.segments.map(({text}) => text)).size > 5)
    for (let interruptAfter = 1; interruptAfter < whole.windows; interruptAfter++) {
      const path = join(folder, `${interruptAfter}.progress`)
      const first = await transcribe({progress: {path, resume: false}, interruptAfter})
      assert.equal(first.outcome.transcript, undefined)
      const second = await transcribe({progress: {path, resume: true}})
      assert.deepEqual(second.outcome, whole.outcome)
      assert.equal(first.windows + second.windows, whole.windows)
    }
  })

  it('resumes several times, also after a line was cut', async () => {
    const whole = await transcribe({})
    const path = join(folder, 'cut.progress')
    await transcribe({progress: {path, resume: false}, interruptAfter: 2})
    await truncate(path, (await readFile(path)).length - 5)
    const second = await transcribe({progress: {path, resume: true}, interruptAfter: 3})
    assert.equal(second.windows, 2)
    const third = await transcribe({progress: {path, resume: true}})
    assert.deepEqual([third.windows, third.outcome], [whole.windows - 3, whole.outcome])
  })

  it('is discarded without resuming', async () => {
    const path = join(folder, 'again.progress')
    await transcribe({progress: {path, resume: false}, interruptAfter: 2})
    const again = await transcribe({progress: {path, resume: false}, interruptAfter: 1})
    assert.equal(again.windows, 1)
    assert.equal((await readFile(path, 'utf8')).trim().split('\n').length, 2)
  })

  it('never replaces a file of another kind', async () => {
    for (const text of ['my notes\n', '{"a": 1}\n', 'no newline'])
      for (const resume of [true, false]) {
        const path = join(folder, 'notes.progress')
        await writeFile(path, text)
        await assert.rejects(transcribe({progress: {path, resume}}), {code: 'output_exists'})
        assert.equal(await readFile(path, 'utf8'), text)
      }
  })

  it('starts at the beginning if the file is missing', async () => {
    const {outcome} = await transcribe({progress: {path: join(folder, 'missing.progress'), resume: true}})
    assert.equal(outcome.transcript?.text, (await transcribe({})).outcome.transcript?.text)
  })

  it('is refused for other options, another model or another recording', async () => {
    const path = join(folder, 'other.progress')
    const progress = {path, resume: true}
    await transcribe({progress, interruptAfter: 1})
    await assert.rejects(transcribe({progress, decoding: {beamSize: 4, temperatures: [0]}}), {
      code: 'resume_mismatch',
      message: /: beam size, temperatures\.$/,
    })
    const excerpt = {offsetSec: 1, durationSec: undefined}
    await assert.rejects(transcribe({progress, excerpt}), {code: 'resume_mismatch', message: /: excerpt\.$/})
    await appendFile(join(folder, 'model'), 'more')
    await assert.rejects(transcribe({progress}), {code: 'resume_mismatch', message: /: model\.$/})
    await utimes(recording, 1, 1)
    await assert.rejects(transcribe({progress}), {code: 'resume_mismatch', message: /: recording, model\.$/})
  })
})

describe('a part of a recording', () => {
  it('has the times of the recording', async () => {
    const {outcome, windows} = await transcribe({excerpt: {offsetSec: 3.7, durationSec: 7.5}})
    const whole = (await transcribe({})).outcome.transcript?.segments ?? []
    const part = outcome.transcript?.segments ?? []
    assert.equal(windows, part.length)
    for (const [i, {startSec, endSec, words}] of part.entries()) {
      const same = whole[i + 1]
      assert.deepEqual([startSec, endSec].map(rounded), [same?.startSec, same?.endSec].map(rounded))
      assert.equal(rounded(words?.[0]?.startSec), rounded(same?.startSec))
    }
    // The first part has the same samples as the second window of the whole recording.
    assert.equal(part[0]?.text.split(' ').at(-1), whole[1]?.text.split(' ').at(-1))
    assert.equal(outcome.transcript?.durationSec, 7.5)
  })

  it('is refused after the end of the recording', () =>
    assert.rejects(transcribe({excerpt: {offsetSec: 24, durationSec: undefined}}), {code: 'excerpt_empty'}))
})

const rounded = (sec: number | undefined) => sec?.toFixed(6)

describe('progressPath', () => {
  it('is next to the output, unless one of the files is a stream', async () => {
    const output = join(folder, 'talk.srt')
    assert.equal(await progressPath(recording, output), `${output}.progress`)
    assert.equal(await progressPath(recording, '/dev/null'), undefined)
    assert.equal(await progressPath('/dev/null', output), undefined)
  })
})
