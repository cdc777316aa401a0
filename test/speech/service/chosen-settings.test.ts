import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {resolveSettings, speechAudioSettings, speechRefineSettings, speechSettings} from '../../../src/config/index.js'
import {chosenSettings, transcriberOptions} from '../../../src/speech/index.js'
import {temperaturesOf} from '../../../src/speech/service/transcriber-options.js'

const sources = {flags: {}, env: {SVC_SPEECH_INITIAL_PROMPT: 'Minutes.', SVC_SPEECH_TEMPERATURE: '0.2'}}
const settings = {
  speech: resolveSettings(speechSettings, sources).values,
  audio: resolveSettings(speechAudioSettings, sources).values,
  refine: resolveSettings(speechRefineSettings, sources).values,
}
const options = (...[choice]: [Parameters<typeof chosenSettings>[1]]) =>
  transcriberOptions(chosenSettings(settings, choice), {entries: []}, [])

describe('the temperatures of a decoding', () => {
  it('rise from the first one to 1, as those of openai-whisper', () => {
    const list = (temperature: number, temperatureIncrement: number) =>
      temperaturesOf({temperature, temperatureIncrement})
    assert.deepEqual(list(0, 0.2), [0, 0.2, 0.4, 0.6, 0.8, 1])
    assert.deepEqual(list(0.5, 0.2), [0.5, 0.7, 0.9])
    assert.deepEqual([list(0, 0), list(1, 0.2), list(0, 1)], [[0], [1], [0, 1]])
  })
})

describe('a threshold for silence around hallucinations', () => {
  it('requests word timestamps, by which they are recognised', () => {
    const speech = {...settings.speech, hallucinationSilenceThreshold: 2}
    const {decoding} = transcriberOptions({...settings, speech}, {entries: []}, [])
    assert.deepEqual([decoding.hallucinationSilenceSec, decoding.wordTimestamps], [2, true])
  })
})

describe('the settings of the voice activity detector', () => {
  it('apply to both kinds, each with its own threshold', () => {
    const sources = {
      flags: {
        vadThreshold: 0.6,
        vadEnergyThreshold: 0.01,
        vadMinSpeechMs: 250,
        vadMaxSpeechSec: 20,
        vadSpeechPadMs: 30,
      },
      env: {SVC_SPEECH_VAD_MODEL: 'vad.onnx', SVC_SPEECH_VAD_MERGE_GAP_MS: '100'},
    }
    const audio = resolveSettings(speechAudioSettings, sources).values
    const of = (vad: 'energy' | 'neural') =>
      transcriberOptions({...settings, audio: {...audio, vad}}, {entries: []}, [])
    const limits = {mergeGapMs: 100, minSpeechMs: 250, maxRegionSec: 20}
    assert.deepEqual(of('energy').vad, {kind: 'energy', threshold: 0.01, ...limits})
    assert.deepEqual(of('neural').vad, {kind: 'neural', model: 'vad.onnx', threshold: 0.6, ...limits})
    assert.equal(of('neural').decoding.speechPadSec, 0.03)
  })
})

describe('the fields of a request', () => {
  it('replace settings', () => {
    const {decoding, text} = options({
      profile: 'aggressive',
      task: 'translate',
      word_timestamps: true,
      prompt: 'Own machines.',
      temperature: 0.8,
    })
    assert.deepEqual(
      [text.profile, decoding.task, decoding.wordTimestamps, decoding.prompt, decoding.temperatures],
      ['aggressive', 'translate', true, 'Own machines.', [0.8, 1]],
    )
  })

  it('leave the settings as they are if they are absent', () => {
    assert.deepEqual(options({}), transcriberOptions(settings, {entries: []}, []))
    assert.deepEqual([options({}).decoding.prompt, options({}).decoding.temperatures[0]], ['Minutes.', 0.2])
  })
})
