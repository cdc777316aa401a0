import assert from 'node:assert/strict'
import type {ServerResponse} from 'node:http'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {resolveSettings, speechSessionSettings} from '../../src/config/index.js'
import {askEndpoint} from '../../src/inference-client/index.js'
import {polish, transcriptUse} from '../../src/voice/index.js'
import {polishSchema} from '../../src/voice/polish/answer.js'
import {completion, openAiServer} from '../support/openai-server.js'
import {startServer} from '../support/server.js'
import {temporaryFolder} from '../support/temporary.js'
import {tinyModel, writeTinyModel} from '../support/tiny-model.js'
import {untilReached} from '../support/until.js'

const transcript = {
  rawText: 'please creat a fil called  notes.txt',
  refinedText: 'please creat a fil called notes.txt',
  confidence: 0.8,
  trace: [],
}
const corrected = 'please create a file called notes.txt'

/** Polishes the transcript with these variables. */
function polished(env: Readonly<Record<string, string>>, signal?: AbortSignal) {
  const sources = {env: {SVC_SPEECH_LLM_DEADLINE_MS: '60000', ...env}}
  const {values} = resolveSettings(speechSessionSettings, sources)
  const options = {...transcriptUse(values).polish, enabled: true, routeMode: 'none'} as const
  return polish(transcript, options, (limited) => askEndpoint(sources, limited), signal)
}

describe('the model that polishes transcripts', () => {
  it('is that of a server with the OpenAI API', async (test) => {
    const content = JSON.stringify({corrected_text: corrected, confidence: 0.95})
    const {baseUrl, calls} = await openAiServer(test, {answer: completion(content)})
    const {text, confidence, report} = await polished({
      SVC_INFERENCE_URL: `${baseUrl}/v1`,
      SVC_INFERENCE_API_KEY: 'key',
    })
    assert.deepEqual([text, confidence, report.applied], [corrected, 0.95, true])
    assert.deepEqual(
      calls.map(({path, token}) => [path, token]),
      [
        ['/v1/models', 'Bearer key'],
        ['/v1/chat/completions', 'Bearer key'],
      ],
    )
    const {messages = [], ...parameters} = calls[1]?.body ?? {}
    assert.deepEqual(parameters, {
      model: 'corrector',
      temperature: 0.1,
      max_tokens: 512,
      response_format: {type: 'json_schema', json_schema: {name: 'answer', schema: polishSchema}},
      stream: false,
    })
    assert.ok(messages.at(-1)?.content.includes(transcript.refinedText))
  })

  it('is the configured one without a list of models', async (test) => {
    const {baseUrl, calls} = await openAiServer(test, {answer: completion('{"keep_original": true}'), models: []})
    const {report} = await polished({SVC_INFERENCE_URL: baseUrl, SVC_INFERENCE_MODEL: 'mine'})
    assert.deepEqual(report, {applied: false, keep_original: true, llm: {keep_original: true}})
    assert.deepEqual(
      calls.map(({path, body}) => [path, body?.model]),
      [['/v1/chat/completions', 'mine']],
    )
  })

  it('is not found if the server lists none, or does not run', async (test) => {
    const {baseUrl} = await openAiServer(test, {answer: completion(''), models: []})
    for (const [url, error] of [
      [baseUrl, /is not a compatible inference server: it lists no models\.$/],
      ['http://127.0.0.1:9', /^Cannot reach http:\/\/127\.0\.0\.1:9: connection refused\.$/],
    ] as const) {
      const {text, report} = await polished({SVC_INFERENCE_URL: url})
      assert.equal(text, transcript.refinedText)
      assert.ok('reason' in report && 'error' in report)
      assert.equal(report.reason, 'model_resolve_failed')
      assert.match(report.error, error)
    }
  })

  it('that fails or answers something else leaves the text unchanged', async (test) => {
    for (const answer of [
      completion(7),
      (response: ServerResponse) => response.end('{"choices": []}'),
      (response: ServerResponse) => response.writeHead(500).end('{"error": {"message": "No /srv/x/model.bin."}}'),
      (response: ServerResponse) => response.destroy(),
    ]) {
      const {baseUrl} = await openAiServer(test, {answer})
      const {text, report} = await polished({SVC_INFERENCE_URL: baseUrl})
      assert.equal(text, transcript.refinedText)
      assert.ok('reason' in report && 'error' in report)
      assert.equal(report.reason, 'infer_failed')
      assert.doesNotMatch(report.error, /srv|v1/)
    }
  })

  it('that is too slow is cancelled', async (test) => {
    const {baseUrl, calls, hungUp} = await openAiServer(test, {answer: () => undefined})
    const {result, limitMs} = await untilReached(
      () => calls.some(({path}) => path === '/v1/chat/completions'),
      (ms) => polished({SVC_INFERENCE_URL: baseUrl, SVC_SPEECH_LLM_DEADLINE_MS: String(ms)}),
    )
    assert.deepEqual(result.report, {
      applied: false,
      reason: 'infer_failed',
      error: `The model did not answer within ${limitMs} ms.`,
    })
    await hungUp
  })

  it('can be one of svc serve, which enforces the form of the answer', async (test) => {
    const model = join(await temporaryFolder(test), 'tiny')
    await writeTinyModel(model, {...tinyModel, contextLength: 4096})
    const server = await startServer(['--model', model])
    test.after(() => server.stop())
    const {text, confidence, report} = await polished({
      SVC_INFERENCE_URL: server.baseUrl,
      SVC_SPEECH_LLM_MAX_OUTPUT_TOKENS: '64',
    })
    assert.deepEqual([text, confidence], [transcript.refinedText, 0.8])
    assert.deepEqual(report, {applied: false, keep_original: true, llm: {keep_original: true}})
  })
})
