import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {after, before, describe, it} from 'node:test'
import {resolveSettings, speechAudioSettings, speechRefineSettings, speechSettings} from '../../../src/config/index.js'
import type {SvcError} from '../../../src/errors/index.js'
import {
  ModelHolder,
  partialWriter,
  Transcriber,
  transcribePayload,
  transcriberOptions,
} from '../../../src/speech/index.js'
import {noPreference} from '../../../src/speech/model/model.js'
import type {Lexicon} from '../../../src/speech/text/lexicon.js'
import {digits, encodingTokenizer, microClips, microData, writeMicroWhisper} from '../../support/micro-whisper.js'
import {projectFile, skipWithout} from '../../support/project.js'
import {randomFloats} from '../../support/random-floats.js'
import {readClip} from '../../support/sounds.js'
import {suiteFolder, writeFiles} from '../../support/temporary.js'
import {monoWave} from '../../support/wave-file.js'
import {writeWhisperFolder} from '../../support/whisper-files.js'
import {microShape, randomWhisper} from '../../support/whisper-weights.js'

type Environment = Readonly<Record<string, string>>

const folder = suiteFolder()
const starterFolder = projectFile('examples/models/starter')
const hello = projectFile('examples/hello.wav')
const noise = join(folder, 'noise.wav')
const holderOf = (path: string) =>
  new ModelHolder({
    locate: async () => ({name: 'model', path}),
    engine: {threads: 1, device: 'cpu', precision: 'f32', backend: 'auto', derivedFolder: folder},
  })
const models = {ctc: holderOf(starterFolder), whisper: holderOf(join(folder, 'whisper'))}
const letters: Record<string, number> = {}

before(async () => {
  Object.assign(letters, JSON.parse(await readFile(join(starterFolder, 'vocab.json'), 'utf8')))
  const weights = randomWhisper(microShape, 3)
  await writeWhisperFolder(join(folder, 'whisper'), microShape, weights, 'F32', encodingTokenizer)
  await writeFiles(folder, {'noise.wav': monoWave(randomFloats(7)(24_000).map((x) => 0.1 * x))})
})
after(async () => {
  for (const model of Object.values(models)) await model.close()
})

function optionsOf(
  env: Environment,
  {lexicon = {entries: []}, symbols = [], flags = {}}: {lexicon?: Lexicon; symbols?: string[]; flags?: object} = {},
) {
  const variables = Object.entries(env).map(([name, value]) => [`SVC_SPEECH_${name}`, value])
  const sources = {flags: {...flags}, env: Object.fromEntries(variables)}
  const settings = {
    speech: resolveSettings(speechSettings, sources).values,
    audio: resolveSettings(speechAudioSettings, sources).values,
    refine: resolveSettings(speechRefineSettings, sources).values,
  }
  return transcriberOptions(settings, lexicon, symbols)
}

const transcriberOf = (model: keyof typeof models, env: Environment) =>
  new Transcriber({...optionsOf(env), model: models[model], refine: false})

/** Recognises speech with the CTC model. */
const hear = (env: Environment) => transcriberOf('ctc', env).transcribe({path: hello})

/** What the CTC model recognises. */
const textOf = async (env: Environment) => (await hear(env)).transcript.text

/** What a random Whisper model writes about noise; it never has much confidence in it. */
async function wordsOf(env: Environment, flags: object = {}, model = models.whisper): Promise<string> {
  const {decoding, ...options} = optionsOf(env, {flags})
  const transcriber = new Transcriber({
    ...options,
    decoding: {...decoding, language: 'en', temperatures: [0], logprobThreshold: -Infinity, noSpeechThreshold: 1},
    model,
    vad: {kind: 'none'},
    refine: false,
  })
  return (await transcriber.transcribe({path: noise})).transcript.text.trim()
}

const phrases = {CONSTRAINED_TRIE: '1', CONSTRAINED_PHRASES: 'hello and welcome; machine'}

describe('SVC_SPEECH_LOGIT_FORBID_TOKENS', () => {
  it('excludes letters of a CTC model', async () => {
    assert.match(await textOf({}), /y/)
    assert.doesNotMatch(await textOf({LOGIT_FORBID_TOKENS: String(letters.y)}), /y/)
  })

  it('excludes words of a Whisper model', async () => {
    const [first = ''] = (await wordsOf({})).split(' ')
    const id = encodingTokenizer.model.vocab[`Ġ${first}`]
    assert.ok(!(await wordsOf({LOGIT_FORBID_TOKENS: String(id)})).split(' ').includes(first))
  })

  it('warns once in a run about tokens that decoding needs', async () => {
    const warned: string[] = []
    const transcriber = transcriberOf('ctc', {LOGIT_FORBID_TOKENS: `${letters['<pad>']},9999`})
    for (let i = 0; i < 2; i++) {
      const {recording} = await transcriber.transcribe({path: hello}, {onWarning: ({code}) => warned.push(code)})
      assert.deepEqual(
        recording?.warnings.map(({code}) => code),
        ['forbidden_token_ignored'],
      )
    }
    assert.deepEqual(warned, ['forbidden_token_ignored'])
  })
})

describe('--suppress-tokens', () => {
  it('suppresses the list of the model by -1, and an empty list nothing, as --suppress_tokens of openai-whisper', async (test) => {
    const free = await wordsOf({})
    const [first = ''] = free.split(' ')
    const id = encodingTokenizer.model.vocab[`Ġ${first}`] as number
    const listed = join(folder, 'listed')
    await writeWhisperFolder(listed, microShape, randomWhisper(microShape, 3), 'F32', encodingTokenizer)
    await writeFiles(listed, {'generation_config.json': JSON.stringify({suppress_tokens: [id]})})
    const model = holderOf(listed)
    test.after(() => model.close())
    const suppressing = (ids: number[]) => wordsOf({}, {suppressTokens: ids}, model)
    const withoutFirst = await wordsOf({LOGIT_FORBID_TOKENS: String(id)})
    assert.equal(await wordsOf({}, {}, model), withoutFirst)
    assert.equal(await suppressing([-1]), withoutFirst)
    assert.equal(await suppressing([]), free)
    assert.equal(await suppressing([id]), withoutFirst)
    const other = encodingTokenizer.model.vocab[`Ġ${withoutFirst.split(' ')[0]}`] as number
    assert.equal(await suppressing([other, -1]), await wordsOf({LOGIT_FORBID_TOKENS: `${id},${other}`}))
  })

  it('rejects values that are not ids', async () => {
    const {parse} = speechRefineSettings.rows.suppressTokens.type.exact ?? assert.fail()
    assert.deepEqual(
      [parse('-1, 50257'), parse(''), parse('all'), parse('1,x'), parse('-2')],
      [[-1, 50_257], [], undefined, undefined, undefined],
    )
  })
})

describe('SVC_SPEECH_CONSTRAINED_PHRASES', () => {
  it('are the only text of a CTC model', async () => {
    assert.equal(await textOf({...phrases, TRIE_STUCK_STEPS: '5'}), 'hello and welcome machine')
  })

  it('are the only text of a Whisper model', async () => {
    const words = await wordsOf({CONSTRAINED_TRIE: '1', CONSTRAINED_PHRASES: 'two seven, nine', TRIE_STUCK_STEPS: '99'})
    assert.match(words, /^(two seven|nine)( two seven| nine)*$/)
    assert.notEqual(words, await wordsOf({}))
  })

  it('have no effect without SVC_SPEECH_CONSTRAINED_TRIE', async () => {
    assert.equal(await textOf({CONSTRAINED_PHRASES: phrases.CONSTRAINED_PHRASES}), await textOf({}))
  })

  it('are dropped with a warning if they need forbidden tokens', async () => {
    const {transcript, recording} = await hear({...phrases, LOGIT_FORBID_TOKENS: `${letters.m} ${letters.w}`})
    // Without these letters, the text is unlikely, too.
    assert.deepEqual(
      recording?.warnings.map(({code}) => code),
      ['constraint_dropped', 'recognition_unreliable'],
    )
    assert.match(transcript.text, /^hello and [^mw]+$/)
  })

  it('that the model cannot write are an error', async () => {
    for (const model of ['ctc', 'whisper'] as const) {
      const transcriber = transcriberOf(model, {CONSTRAINED_TRIE: '1', CONSTRAINED_PHRASES: 'port 8080'})
      await assert.rejects(transcriber.transcribe({path: hello}), (error: SvcError) => {
        assert.match(error.message, /"port 8080"/)
        assert.deepEqual([error.code, transcriber.isGeneral(error)], ['phrase_unwritable', true])
        return true
      })
    }
  })
})

describe('a draft of live audio', () => {
  it('consists of constrained phrases', async () => {
    const {engine} = await models.ctc.open(undefined)
    const samples = await readClip(hello)
    const draft = async (env: Environment) => {
      const stream = engine.draft?.({...optionsOf(env).decoding, language: 'en', preferred: noPreference})
      let text = ''
      for (let at = 0; at < samples.length; at += 16_000)
        text = (await stream?.push(samples.slice(at, at + 16_000)))?.text ?? ''
      stream?.close()
      return text
    }
    assert.match(await draft({}), /^hello and welcome .* own machine$/)
    assert.equal(await draft({...phrases, TRIE_STUCK_STEPS: '5'}), 'hello and welcome machine')
  })
})

describe('a strong bias', {skip: skipWithout(microData)}, () => {
  it('does not replace a word that the model is sure of', async (test) => {
    await writeMicroWhisper(join(folder, 'digits'))
    await writeFiles(folder, {'digits/tokenizer.json': JSON.stringify(encodingTokenizer)})
    const model = holderOf(join(folder, 'digits'))
    test.after(() => model.close())
    for (const {path, words} of (await microClips()).slice(0, 3))
      for (const hotword of digits.filter((word) => !words.includes(word)).slice(0, 3)) {
        const {decoding, ...options} = optionsOf({LOGIT_BIAS_STRENGTH: '50', SESSION_HOTWORDS: hotword})
        // Hotwords in the prompt are not part of this test.
        const transcriber = new Transcriber({...options, decoding: {...decoding, hotwords: []}, model, refine: false})
        const {transcript} = await transcriber.transcribe({path})
        assert.equal(transcript.text.trim(), words.join(' '), hotword)
      }
  })
})

describe('SVC_SPEECH_TRIE_STUCK_STEPS', () => {
  it('limits the number of tokens in a row that match no phrase', async () => {
    const read = async (steps: string, list = phrases.CONSTRAINED_PHRASES) => {
      const {transcript} = await hear({...phrases, CONSTRAINED_PHRASES: list, TRIE_STUCK_STEPS: steps})
      return [transcript.text, ...transcript.segments.map(({constraintEscaped}) => constraintEscaped)]
    }
    const whole = await textOf({})
    assert.deepEqual(await read('1'), [whole, true])
    assert.deepEqual(await read('5'), ['hello and welcome machine', undefined])
    assert.deepEqual(await read('2', 'two, three'), [whole, true])
    assert.deepEqual(await read('99', 'yes, no, hello and welcome'), ['hello and welcome no', undefined])
  })

  it('is visible in the result and in the events of tokens and segments', async () => {
    const path = join(folder, 'partial.jsonl')
    const writer = partialWriter(path, {sessionId: 's', chunkSec: 0})
    const transcriber = transcriberOf('ctc', {...phrases, TRIE_STUCK_STEPS: '1', STREAM_TOKENS: '1'})
    const file = await transcriber.transcribe({path: hello}, {onChunk: writer.write})
    const {segments} = transcribePayload(file, {path, correlationId: 'c', refined: false, minConfidence: 0})
    assert.deepEqual(
      segments?.map(({constraint_escaped: escaped}) => escaped),
      [true],
    )
    const lines = (await readFile(path, 'utf8')).trim().split('\n')
    const events = lines.map((line) => JSON.parse(line)).filter(({event}) => event !== undefined)
    assert.deepEqual([...new Set(events.map(({event}) => event))], ['token', 'segment'])
    assert.ok(events.every(({constraint_escaped: escaped, logprob = 0}) => escaped === true && logprob <= 0))
  })
})

describe('the bias', () => {
  const strong = {LOGIT_BIAS_STRENGTH: '50', SESSION_HOTWORDS: 'seven five'}

  it('has the strength of SVC_SPEECH_LOGIT_BIAS_STRENGTH in a CTC model, too', async () => {
    const heard = async (strength: string, hotword: string) => {
      const transcriber = transcriberOf('ctc', {LOGIT_BIAS_STRENGTH: strength, SESSION_HOTWORDS: hotword})
      const {transcript} = await transcriber.transcribe({path: projectFile('examples/memo.wav')})
      return transcript.text.split(' ')[7]
    }
    const read = (hotword: string) => Promise.all(['0', '0.4', '0.8'].map((strength) => heard(strength, hotword)))
    assert.deepEqual(await read('had'), ['have', 'had', 'had'])
    assert.deepEqual(await read('half'), ['have', 'have', 'half'])
  })

  it('has the strength of SVC_SPEECH_LOGIT_BIAS_STRENGTH', async () => {
    const free = await wordsOf({...strong, LOGIT_BIAS_STRENGTH: '0', CONTEXTUAL_BIAS: '0'})
    assert.equal(await wordsOf({...strong, LOGIT_BIAS_STRENGTH: '0'}), free)
    assert.notEqual(await wordsOf(strong), free)
  })

  it('has at most SVC_SPEECH_LOGIT_BIAS_MAX_TOKENS different tokens', async () => {
    const free = await wordsOf({...strong, LOGIT_BIAS_STRENGTH: '0'})
    assert.equal(await wordsOf({...strong, LOGIT_BIAS_MAX_TOKENS: '1'}), free)
    assert.notEqual(await wordsOf({...strong, LOGIT_BIAS_MAX_TOKENS: '2'}), free)
  })

  const lexicon = {entries: [{canonical: 'Worker 7', aliases: ['worker'], pronunciationHints: []}]}

  it('applies to the lexicon, then hotwords, then names of programs, each once', () => {
    const env = {SESSION_HOTWORDS: 'mesh, WORKER'}
    const {decoding, text} = optionsOf(env, {lexicon, symbols: ['findBook', 'mesh', 'id']})
    assert.deepEqual(decoding.constraints.bias, ['Worker 7', 'worker', 'mesh', 'findBook', 'find book'])
    assert.deepEqual(text.hotwords, ['mesh', 'WORKER', 'findBook', 'find book', 'mesh'])
    assert.deepEqual(decoding.hotwords, ['mesh', 'WORKER'])
  })

  it('leaves room for the phrases of the user before names of programs', () => {
    const env = {SESSION_HOTWORDS: 'mesh', MAX_BIAS_PHRASES: '4'}
    assert.deepEqual(optionsOf(env, {lexicon, symbols: ['find_book']}).decoding.constraints.bias, [
      'Worker 7',
      'worker',
      'mesh',
      'find_book',
    ])
  })

  it('is off with SVC_SPEECH_CONTEXTUAL_BIAS=0', () => {
    const {decoding} = optionsOf({SESSION_HOTWORDS: 'mesh', CONTEXTUAL_BIAS: '0'}, {lexicon, symbols: ['findBook']})
    assert.deepEqual(decoding.constraints.bias, [])
  })
})
