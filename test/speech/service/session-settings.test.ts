import assert from 'node:assert/strict'
import {join} from 'node:path'
import {after, before, describe, it} from 'node:test'
import {
  resolveSettings,
  speechAudioSettings,
  speechRefineSettings,
  speechSessionSettings,
  speechSettings,
} from '../../../src/config/index.js'
import {
  ModelHolder,
  noEditor,
  polish,
  Router,
  routeTranscript,
  type TranscribeOptions,
  Transcriber,
  transcriberOptions,
  transcriptUse,
} from '../../../src/speech/index.js'
import type {RouteMode} from '../../../src/speech/routing/decide.js'
import {projectFile} from '../../support/project.js'
import {joined, readClip} from '../../support/sounds.js'
import {suiteFolder, writeFiles} from '../../support/temporary.js'
import {monoWave} from '../../support/wave-file.js'

type Environment = Readonly<Record<string, string>>

const prefixed = (env: Environment) => ({
  flags: {},
  env: Object.fromEntries(Object.entries(env).map(([name, value]) => [`SVC_SPEECH_${name}`, value])),
})
const useOf = (env: Environment) => transcriptUse(resolveSettings(speechSessionSettings, prefixed(env)).values)

const {signal} = new AbortController()

/** Routes texts with these variables; returns the status of each. `sent` has the messages of each chat. */
async function routed(env: Environment, mode: RouteMode, texts: readonly {text: string; session?: string}[]) {
  const router = new Router()
  const sent: string[][] = []
  const tokens: number[] = []
  const ports = {
    operations: [],
    router,
    run: async () => ({task_id: 1, display_id: 'T-0001', status: 'Queued', summary: '', engine: {}}),
    confirm: async () => true,
    resolveModel:
      async () =>
      async (messages: readonly {content: string}[], {maxTokens}: {maxTokens: number}) => {
        sent.push(messages.map(({content}) => content).slice(1))
        tokens.push(maxTokens)
        return 'yes'
      },
  }
  const statuses: string[] = []
  for (const {text, session = 's'} of texts) {
    const use = {mode, editor: noEditor, ...useOf(env)}
    const {route} = await routeTranscript(session, {text, confidence: 0.9}, use, ports, signal)
    statuses.push(route.status)
  }
  return {statuses, sent, tokens}
}

describe('the settings of routes', () => {
  it('SVC_SPEECH_TOOL_ROUTE_MIN_CONFIDENCE', async () => {
    const text = [{text: 'speech status'}]
    assert.deepEqual((await routed({}, 'tool', text)).statuses, ['executed'])
    const strict = {TOOL_ROUTE_MIN_CONFIDENCE: '0.95'}
    assert.deepEqual((await routed(strict, 'tool', text)).statuses, ['below_tool_confidence'])
  })

  it('SVC_SPEECH_ORCHESTRATOR_MIN_CONFIDENCE', async () => {
    const text = [{text: 'fix it'}]
    assert.deepEqual((await routed({}, 'orchestrator', text)).statuses, ['queued'])
    const strict = {ORCHESTRATOR_MIN_CONFIDENCE: '0.95'}
    assert.deepEqual((await routed(strict, 'orchestrator', text)).statuses, ['queued_low_confidence'])
  })

  it('SVC_SPEECH_ROUTE_MAX_USER_TURNS', async () => {
    const texts = [{text: 'one'}, {text: 'two'}]
    assert.deepEqual((await routed({}, 'chat', texts)).statuses, ['executed', 'executed'])
    const {statuses} = await routed({ROUTE_MAX_USER_TURNS: '1'}, 'chat', texts)
    assert.deepEqual(statuses, ['executed', 'guard_max_user_turns'])
  })

  it('SVC_SPEECH_CHAT_MAX_MESSAGES', async () => {
    const texts = ['one', 'two', 'three'].map((text) => ({text}))
    assert.deepEqual((await routed({}, 'chat', texts)).sent[2], ['one', 'yes', 'two', 'yes', 'three'])
    const {sent} = await routed({CHAT_MAX_MESSAGES: '4'}, 'chat', texts)
    assert.deepEqual(sent[2], ['yes', 'two', 'yes', 'three'])
  })

  it('SVC_SPEECH_ROUTING_SESSION_CAP', async () => {
    const sessions = Array.from({length: 65}, (_, i) => ({text: 'fix it', session: `s${i}`}))
    const again = [...sessions, {text: 'fix it', session: 's0'}]
    assert.equal((await routed({}, 'orchestrator', again)).statuses.at(-1), 'repetition_breaker')
    assert.equal((await routed({ROUTING_SESSION_CAP: '64'}, 'orchestrator', again)).statuses.at(-1), 'queued')
  })

  it('SVC_SPEECH_ROUTING_SESSION_TTL_SECS', async (test) => {
    const texts = [{text: 'fix it'}, {text: 'fix it'}]
    test.mock.timers.enable({apis: ['Date']})
    const later = {
      [Symbol.iterator]: function* () {
        yield texts[0] as {text: string}
        test.mock.timers.tick(61_000)
        yield texts[1] as {text: string}
      },
    } as Iterable<{text: string}> as typeof texts
    assert.deepEqual((await routed({}, 'orchestrator', later)).statuses, ['queued', 'repetition_breaker'])
    const {statuses} = await routed({ROUTING_SESSION_TTL_SECS: '60'}, 'orchestrator', later)
    assert.deepEqual(statuses, ['queued', 'queued'])
  })

  it('SVC_SPEECH_LLM_MAX_OUTPUT_TOKENS', async () => {
    assert.deepEqual((await routed({LLM_MAX_OUTPUT_TOKENS: '100'}, 'chat', [{text: 'one'}])).tokens, [100])
  })
})

describe('the settings of polishing', () => {
  const transcript = {rawText: 'helo', refinedText: 'helo', confidence: 0.85, trace: []}
  const polished = async (env: Environment, answer: () => Promise<string>) => {
    const options = {...useOf(env).polish, routeMode: 'none'} as const
    return (await polish(transcript, options, async () => answer, signal)).report
  }
  const corrects = async () => '{"corrected_text": "hello"}'

  it('SVC_SPEECH_LLM_REFINEMENT_DEFAULT', async () => {
    assert.deepEqual(await polished({}, corrects), {applied: false, skipped: true, reason: 'llm_refinement_disabled'})
    assert.equal((await polished({LLM_REFINEMENT_DEFAULT: '1', LLM_MIN_CONFIDENCE: '0.9'}, corrects)).applied, true)
  })

  it('SVC_SPEECH_LLM_MIN_CONFIDENCE', async () => {
    const report = await polished({LLM_REFINEMENT_DEFAULT: '1'}, corrects)
    assert.ok('reason' in report && report.reason === 'deterministic_confidence_sufficient')
  })

  it('SVC_SPEECH_LLM_DEADLINE_MS', async () => {
    const env = {LLM_REFINEMENT_DEFAULT: '1', LLM_MIN_CONFIDENCE: '0.9', LLM_DEADLINE_MS: '20'}
    const report = await polished(env, () => new Promise(() => undefined))
    assert.ok('error' in report)
    assert.equal(report.error, 'The model did not answer within 20 ms.')
  })
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
