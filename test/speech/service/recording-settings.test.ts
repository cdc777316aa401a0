import assert from 'node:assert/strict'
import {join} from 'node:path'
import {after, before, describe, it} from 'node:test'
import {resolveSettings, speechAudioSettings, speechRefineSettings, speechSettings} from '../../../src/config/index.js'
import {ModelHolder, type TranscribeOptions, Transcriber, transcriberOptions} from '../../../src/speech/index.js'
import {projectFile} from '../../support/project.js'
import {joined, readClip} from '../../support/sounds.js'
import {suiteFolder, writeFiles} from '../../support/temporary.js'
import {monoWave} from '../../support/wave-file.js'

type Environment = Readonly<Record<string, string>>

const prefixed = (env: Environment) => ({
  flags: {},
  env: Object.fromEntries(Object.entries(env).map(([name, value]) => [`SVC_SPEECH_${name}`, value])),
})
describe('the settings of recordings', () => {
  const holder = new ModelHolder({
    locate: async () => ({name: 'starter', path: projectFile('examples/models/starter')}),
    engine: {threads: 1, device: 'cpu', precision: 'f32', backend: 'auto', derivedFolder: suiteFolder()},
  })
  const memo = projectFile('examples/memo.wav')
  const optionsOf = (env: Environment) => {
    const sources = prefixed(env)
    const settings = {
      speech: resolveSettings(speechSettings, sources).values,
      audio: resolveSettings(speechAudioSettings, sources).values,
      refine: resolveSettings(speechRefineSettings, sources).values,
    }
    return transcriberOptions(
      settings,
      {entries: [{canonical: 'server', aliases: ['servant'], pronunciationHints: []}]},
      [],
    )
  }
  const {signal} = new AbortController()
  const folder = suiteFolder()
  const long = join(folder, 'long.wav')
  before(async () => {
    const samples = await readClip(memo)
    await writeFiles(folder, {'long.wav': monoWave(joined([samples, samples, samples]))})
    await holder.open(signal)
  })
  after(() => holder.close())

  /** Positions of the chunks of a recording, seconds. */
  async function chunks(env: Environment): Promise<[number, number][]> {
    const found: [number, number][] = []
    const transcriber = new Transcriber({...optionsOf(env), model: holder, refine: true})
    await transcriber.transcribe({path: long}, {onChunk: ({startSec, endSec}) => void found.push([startSec, endSec])})
    return found
  }

  it('SVC_SPEECH_CHUNK_SEC and SVC_SPEECH_CHUNK_OVERLAP_SEC', async () => {
    const lengths = async (env: Environment) => (await chunks({VAD: 'none', ...env})).map(([from, to]) => to - from)
    assert.ok(Math.max(...(await lengths({}))) > 6)
    const split = await lengths({CHUNK_SEC: '5'})
    assert.ok(split.length > 2)
    assert.notDeepEqual(await lengths({CHUNK_SEC: '5', CHUNK_OVERLAP_SEC: '1.5'}), split)
  })

  it('SVC_SPEECH_LANGUAGE and SVC_SPEECH_TASK', async () => {
    const decoding = (env: Environment): Omit<TranscribeOptions, 'preprocess' | 'preferred'> => optionsOf(env).decoding
    assert.deepEqual([decoding({}).language, decoding({}).task], [undefined, 'transcribe'])
    const {language, task} = decoding({LANGUAGE: 'de', TASK: 'translate'})
    assert.deepEqual([language, task], ['de', 'translate'])
    const transcriber = new Transcriber({...optionsOf({LANGUAGE: 'de'}), model: holder, refine: true})
    await assert.rejects(transcriber.transcribe({path: memo}), /does not support the language/)
  })

  it('SVC_SPEECH_ACOUSTIC_PREPROCESS and its budget', () => {
    const {preprocess} = optionsOf({ACOUSTIC_PREPROCESS: 'peak_normalize', ACOUSTIC_PREPROCESS_BUDGET_MS: '7'})
    assert.deepEqual([preprocess.mode, preprocess.budgetMs], ['peak_normalize', 7])
    assert.deepEqual([optionsOf({}).preprocess.mode, optionsOf({}).preprocess.budgetMs], ['none', 25])
  })

  it('SVC_SPEECH_MAX_BIAS_PHRASES and SVC_SPEECH_SESSION_HOTWORDS', () => {
    const env = {SESSION_HOTWORDS: 'restart, machine'}
    assert.deepEqual(optionsOf(env).decoding.hotwords, ['restart', 'machine'])
    assert.equal(optionsOf({...env, MAX_BIAS_PHRASES: '1'}).text.maxBiasPhrases, 1)
    const {bias = []} = optionsOf({...env, MAX_BIAS_PHRASES: '1'}).decoding.constraints ?? {}
    assert.ok(bias.length < (optionsOf(env).decoding.constraints?.bias.length ?? 0))
  })
})
