import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {resolveSettings, speechSessionSettings} from '../../src/config/index.js'
import {noEditor, polish, type RouteMode, Router, routeTranscript, transcriptUse} from '../../src/voice/index.js'

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
