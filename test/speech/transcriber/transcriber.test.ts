import assert from 'node:assert/strict'
import {join} from 'node:path'
import {after, describe, it} from 'node:test'
import {loadCodeRank} from '../../../src/cli/code-rank.js'
import {resolveSettings, speechAudioSettings, speechRefineSettings, speechSettings} from '../../../src/config/index.js'
import type {SvcError} from '../../../src/errors/index.js'
import {parseSubtitles} from '../../../src/speech/evaluation/subtitle-parser.js'
import {
  createFormat,
  ModelHolder,
  type Segment,
  type SpeechModel,
  Transcriber,
  type TranscriberOptions,
  transcribePayload,
  transcriberOptions,
  writeTranscript,
} from '../../../src/speech/index.js'
import {type Alternative, sampleRate} from '../../../src/speech/model/model.js'
import {projectFile} from '../../support/project.js'
import {joined, pinkNoise, readClip} from '../../support/sounds.js'
import {suiteFolder, writeFiles} from '../../support/temporary.js'
import {monoWave} from '../../support/wave-file.js'

/** The options of `svc transcribe` with these flags; by default, all audio counts as speech. */
async function optionsOf(flags: Readonly<Record<string, unknown>>): Promise<Omit<TranscriberOptions, 'model'>> {
  const sources = {flags: {vad: 'none', ...flags}, env: {}}
  const refine = resolveSettings(speechRefineSettings, sources).values
  const options = transcriberOptions(
    {
      speech: resolveSettings(speechSettings, sources).values,
      audio: resolveSettings(speechAudioSettings, sources).values,
      refine,
    },
    {entries: []},
    [],
  )
  const rank = refine.domainMode === 'code' ? await loadCodeRank() : undefined
  return {...options, text: {...options.text, rank}, refine: true}
}

const starter = new ModelHolder({
  locate: async () => ({name: 'starter', path: projectFile('examples/models/starter')}),
  engine: {threads: 1, device: 'cpu', precision: 'auto', backend: 'auto', derivedFolder: ''},
})
after(() => starter.close())

/** A model that hears these segments, one per second, in one window. */
function hearing(
  texts: readonly string[],
  alternatives: Alternative[] = [],
  change: Partial<SpeechModel> & {languages?: readonly string[]} = {},
): ModelHolder {
  const segments: Segment[] = texts.map((text, i) => ({
    startSec: i,
    endSec: i + 1,
    text,
    tokens: [i],
    temperature: 0,
    avgLogprob: -0.1,
    compressionRatio: 1,
    noSpeechProb: 0,
  }))
  const model: SpeechModel = {
    description: {
      family: 'whisper',
      name: 'test',
      path: '/test',
      precision: 'f32',
      device: 'cpu',
      windowSec: 30,
      timestamps: true,
      wordTimings: false,
      languages: change.languages ?? ['en'],
      translates: false,
      batch: 0,
      instances: 1,
      drafts: 'window',
    },
    recognise: async () => ({
      segments,
      consumedSec: 30,
      language: 'en',
      languageProbability: 1,
      noSpeech: false,
      temperature: 0,
      alternatives,
      timings: {featuresMs: 0, encodeMs: 0, decodeMs: 0, wholeHeads: 0},
      warnings: [],
    }),
    detectLanguage: async () => [{language: 'en', probability: 1}],
    release: async () => undefined,
    ...change,
  }
  const holder = new ModelHolder({locate: () => assert.fail(), engine: starterEngine})
  holder.open = async () => ({engine: {...model, loadMs: 0}, loadMs: 0})
  return holder
}
const starterEngine = {threads: 1, device: 'cpu', precision: 'f32', backend: 'auto', derivedFolder: ''} as const

const folder = suiteFolder()

async function fileOf(name: string, content: string | Uint8Array): Promise<string> {
  await writeFiles(folder, {[name]: content})
  return join(folder, name)
}

/** Transcribes, and returns the text of every kind of output of the run. */
async function textsOf(model: ModelHolder, path: string, flags: Readonly<Record<string, unknown>>) {
  const streamed: Segment[] = []
  const transcriber = new Transcriber({...(await optionsOf(flags)), model})
  const file = await transcriber.transcribe({path}, {onSegment: (segment) => void streamed.push(segment)})
  const {transcript} = file
  const payload = transcribePayload(file, {path, correlationId: '', refined: true, minConfidence: 0})
  const verbose = JSON.parse(writeTranscript('verbose_json', transcript))
  const words = (texts: readonly string[]) => texts.join(' ').split(/\s+/).filter(Boolean).join(' ')
  const table = writeTranscript('tsv', transcript).trim().split('\n').slice(1)
  const spoken = (segments: readonly {text: string}[] = []) => words(segments.map(({text}) => text))
  const format = createFormat('text')
  return {
    payload,
    transcript,
    texts: {
      text: words([payload.text]),
      refined: words([payload.refined_text]),
      first: words([payload.n_best?.[0] ?? payload.text]),
      segments: spoken(payload.segments ?? transcript.segments),
      streamed: words(streamed.map((segment) => format.segment(segment))),
      plain: words([writeTranscript('text', transcript)]),
      json: words([JSON.parse(writeTranscript('json', transcript)).text]),
      verbose: words([verbose.text]),
      verboseSegments: spoken(verbose.segments),
      srt: spoken(parseSubtitles(writeTranscript('srt', transcript))),
      vtt: spoken(parseSubtitles(writeTranscript('vtt', transcript))),
      tsv: words(table.map((line) => line.split('\t')[2] ?? '')),
    },
  }
}

/** Asserts that all outputs have this text. */
const assertAllAre = (texts: Readonly<Record<string, string>>, expected: string) =>
  assert.deepEqual(texts, Object.fromEntries(Object.keys(texts).map((name) => [name, expected])))

describe('the text of a transcription', async () => {
  const silence = await fileOf('silence.wav', monoWave(new Float32Array(3 * sampleRate)))

  it('is the same in all formats if a hotword decides between hypotheses of the model', async () => {
    const textWith = (verb: string) =>
      `the server is ready and the tests ${verb} finished please restart the worker tomorrow morning`
    for (const verb of ['have', 'had']) {
      const flags = {beamSize: 5, sessionHotwords: [verb], vad: 'energy'}
      const {texts, payload} = await textsOf(starter, projectFile('examples/memo.wav'), flags)
      assertAllAre(texts, textWith(verb))
      assert.ok(payload.n_best?.includes(textWith('have')) && payload.n_best.includes(textWith('had')))
    }
  })

  it('is the same in all formats if a hotword decides between spellings', async () => {
    const model = hearing([' please  call', ' camel case get user', ' now'])
    const {texts, payload} = await textsOf(model, silence, {sessionHotwords: ['getUser']})
    assertAllAre(texts, 'please call getUser now')
    assert.deepEqual(
      payload.segments?.map(({text, start_ms: start}) => [text, start]),
      [
        ['please call', 0],
        ['getUser', 1000],
        ['now', 2000],
      ],
    )
  })

  it('is the same in all formats if sentences are written', async () => {
    const {texts} = await textsOf(hearing([' um it works. we', ' go. then', ' home']), silence, {profile: 'aggressive'})
    assertAllAre(texts, 'It works. We go. Then home.')
  })

  describe('in the code domain', () => {
    const flags = {domainMode: 'code', beamSize: 5}
    const code = 'fn go() { }'

    it('is the same in all formats, in one segment, if it is a program only as a whole', async () => {
      const model = hearing([' fn go open paren', ' close paren open brace', ' close brace'])
      const {texts, payload} = await textsOf(model, silence, flags)
      assertAllAre(texts, code)
      assert.equal(payload.raw_text.trim(), 'fn go open paren close paren open brace close brace')
      assert.deepEqual(
        payload.segments?.map(({text, start_ms: start, end_ms: end}) => [text, start, end]),
        [[code, 0, 3000]],
      )
    })

    it('is a likely alternative if only that is a program', async () => {
      const heard = 'fun go open paren close paren open brace close brace'
      const program = heard.replace('fun', 'fn')
      for (const [score, expected] of [
        [-2, code],
        [-9, heard],
      ] as const) {
        const alternatives = [
          {text: heard, score: -1},
          {text: program, score},
        ]
        const {texts, payload} = await textsOf(hearing([` ${heard}`], alternatives), silence, flags)
        assertAllAre(texts, expected)
        assert.equal(payload.n_best?.includes(program), score === -2)
      }
    })

    it('is the same in all formats for a text file', async () => {
      const path = await fileOf('note.txt', 'fn go open paren close paren  open brace close brace\n')
      const {texts} = await textsOf(starter, path, flags)
      assertAllAre(texts, code)
    })

    it('is prose if no candidate is a program', async () => {
      const path = await fileOf('note.txt', 'call the  function\n')
      const {texts} = await textsOf(starter, path, flags)
      assertAllAre(texts, 'call the function')
    })
  })
})

describe('the detection of a language', () => {
  const guesses = [
    {language: 'de', probability: 0.9},
    {language: 'nl', probability: 0.1},
  ]
  const lengths: number[] = []
  const model = hearing([], [], {
    languages: ['de', 'nl'],
    recognise: () => assert.fail('transcribed'),
    async detectLanguage(samples) {
      lengths.push(samples.length / sampleRate)
      return guesses
    },
  })

  it('reads the first 30 seconds and transcribes nothing, as detect_language of faster-whisper and -dl of whisper.cpp', async () => {
    const transcriber = new Transcriber({...(await optionsOf({})), model})
    const path = await fileOf('long.wav', monoWave(new Float32Array(40 * sampleRate)))
    assert.deepEqual(await transcriber.detectLanguage({path}), {model: 'test', languages: guesses})
    const excerpt = {offsetSec: 35, durationSec: undefined}
    await transcriber.detectLanguage({path}, {excerpt})
    assert.deepEqual(lengths, [30, 5])
  })

  it('has no result for a recording without speech', async () => {
    const transcriber = new Transcriber({...(await optionsOf({vad: 'energy'})), model})
    const path = await fileOf('silent.wav', monoWave(new Float32Array(65 * sampleRate)))
    assert.deepEqual((await transcriber.detectLanguage({path})).languages, [])
  })

  it('skips silence before the speech', async () => {
    const transcriber = new Transcriber({...(await optionsOf({vad: 'energy'})), model})
    const speech = await readClip(projectFile('examples/memo.wav'))
    const path = await fileOf('late.wav', monoWave(joined([new Float32Array(70 * sampleRate), speech])))
    lengths.length = 0
    assert.deepEqual((await transcriber.detectLanguage({path})).languages, guesses)
    assert.ok((lengths[0] ?? 0) > 4 && (lengths[0] ?? 0) < 16, `${lengths}`)
  })

  it('fails for a model with one language', async () => {
    const transcriber = new Transcriber({...(await optionsOf({})), model: hearing([])})
    await assert.rejects(transcriber.detectLanguage({path: projectFile('examples/hello.wav')}), (error: SvcError) => {
      assert.deepEqual([error.code, transcriber.isGeneral(error)], ['language_detection_unsupported', true])
      return true
    })
  })
})

describe('a quiet recording', () => {
  const record = async (gain: number) =>
    fileOf('quiet.wav', monoWave((await readClip(projectFile('examples/hello.wav'))).map((x) => x * gain)))
  const transcribe = async (path: string, flags: Readonly<Record<string, unknown>> = {}) => {
    const transcriber = new Transcriber({...(await optionsOf({vad: 'energy', ...flags})), model: starter})
    let ready = 0
    const {recording, transcript} = await transcriber.transcribe({path}, {onReady: () => ready++})
    assert.equal(ready, 1)
    return {text: transcript.text.trim(), warnings: recording?.warnings.map(({message}) => message) ?? []}
  }

  it('is amplified if the detector finds no speech in it', async () => {
    for (const gain of [0.01, 0.004]) {
      const {text, warnings} = await transcribe(await record(gain))
      assert.match(text, /^hello and welcome/)
      assert.match(warnings.join(), /is very quiet: its loudest sample has -\d\d dBFS\. It was amplified by \d\d dB\.$/)
    }
  })

  it('has a warning with the flags that help if words may be missing', async () => {
    const path = await record(0.0178)
    const {warnings} = await transcribe(path)
    assert.match(warnings.join(), /use --vad-energy-threshold 0\.0003 --preprocess peak_normalize\.$/)
    const helped = await transcribe(path, {vadEnergyThreshold: 0.0003, preprocess: 'peak_normalize'})
    assert.doesNotMatch(helped.warnings.join(), /very quiet/)
    assert.match(helped.text, /^hello and welcome/)
  })

  it('has no text and no warning if it is only noise', async () => {
    for (const level of [0.0004, 0.01]) {
      const path = await fileOf('noise.wav', monoWave(pinkNoise(4 * sampleRate).map((x) => x * level)))
      assert.deepEqual(await transcribe(path), {text: '', warnings: []})
    }
  })
})
