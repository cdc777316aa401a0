import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {isErrorOf, type SvcError} from '../../../src/errors/index.js'
import type {ModelChoice} from '../../../src/inference-client/choose-model.js'
import {
  defaultGenerationLimits,
  generate,
  inferenceClient,
  resolveEndpoint,
} from '../../../src/inference-client/index.js'
import {taskPhases} from '../../../src/workspace/vocabulary.js'
import {type Answer, answerLines, scriptedInference} from '../../support/scripted-inference.js'
import {startServer} from '../../support/server.js'
import {temporaryFolder} from '../../support/temporary.js'
import {writeTinyModel} from '../../support/tiny-model.js'
import {until} from '../../support/until.js'
import {aTask, recordedReport, underCollection, unstopped} from './a-task.js'
import {failure, forever, line, linesWithoutText, processorFor} from './ai-run.js'

/** Answers of the six phases; the last line contains token counts. */
const answers = ['A number is asked for.', 'Among the primes.', 'Seven fits.', 'Seven – 7 𝄞', 'No fault.', 'Done.']
const wellBehaved: Answer = (response, _call, count) =>
  response.end(answerLines(answers[count - 1] ?? '', {prompt_eval_count: 100 + count, eval_count: 10}))

describe('an AI task', () => {
  it('runs in six phases, each with its own generation', async (test) => {
    const server = await scriptedInference(test, wellBehaved)
    const report = recordedReport()
    const outcome = await processorFor(server.baseUrl).run(aTask(), report, unstopped)
    assert.deepEqual(
      report.entries,
      taskPhases.flatMap((phase, i) => [`phase ${phase}`, `${phase}: ${answers[i]}`]),
    )
    assert.equal(outcome.text, 'Seven – 7 𝄞')
    assert.deepEqual(outcome.details, {
      model: 'run-a',
      phases: Object.fromEntries(taskPhases.map((phase, i) => [phase, answers[i]])),
    })
    assert.equal(server.calls.length, 6)
    for (const {model, stream, options} of server.calls)
      assert.deepEqual([model, stream, options], ['run-a', true, {temperature: 0.7, num_predict: 2048}])
  })

  it('passes earlier answers to each phase', async (test) => {
    const server = await scriptedInference(test, wellBehaved)
    await processorFor(server.baseUrl).run(aTask(), recordedReport(), unstopped)
    for (const [i, {prompt}] of server.calls.entries())
      assert.deepEqual(
        answers.map((answer) => prompt.includes(answer)),
        answers.map((_, j) => j < i),
      )
  })

  for (const [said, details, env, maxBytes] of [
    ['is configured on the server', {parameters: 'num_ctx                        32768'}, {}, 91_968],
    [
      'the model was trained with, if that is below the default',
      {model_info: {'llama.context_length': 2048}},
      {},
      2880,
    ],
    ['is the default, if the model was trained with more', {model_info: {'llama.context_length': 131_072}}, {}, 5952],
    ['is the default if nothing is known', {}, {}, 5952],
    ['a user sets, and requests it', {parameters: 'num_ctx 512'}, {SVC_INFERENCE_CONTEXT_LENGTH: '16384'}, 42_816],
  ] as const)
    it(`fits its prompt into the context length that ${said}`, async (test) => {
      const long = 'x'.repeat(200_000)
      const answer: Answer = (response) => response.end(answerLines(long))
      const server = await scriptedInference(test, answer, ['run-a'], details)
      await processorFor(server.baseUrl, {}, env).run(aTask(), recordedReport(), unstopped)
      const last = server.calls.at(-1)
      const bytes = Buffer.byteLength(`${last?.system}${last?.prompt}`)
      assert.ok(bytes <= maxBytes && bytes > maxBytes * 0.9, `${bytes} bytes`)
      assert.equal(last?.options.num_ctx?.toString(), (env as Record<string, string>).SVC_INFERENCE_CONTEXT_LENGTH)
    })

  it('reports the tokens and cost of all phases', async (test) => {
    const {baseUrl} = await scriptedInference(test, wellBehaved)
    const {usage} = await processorFor(baseUrl, {prices: {'run-a': 0.5}}).run(aTask(), recordedReport(), unstopped)
    assert.deepEqual(usage, {
      provider: 'local',
      model: 'run-a',
      inputTokens: 621,
      outputTokens: 60,
      costUsd: 0.3405,
    })
  })

  it('reports no tokens if the server reports none', async (test) => {
    const {baseUrl} = await scriptedInference(test, (response) => response.end(answerLines('Yes.')))
    const {usage} = await processorFor(baseUrl).run(aTask(), recordedReport(), unstopped)
    assert.deepEqual([usage?.inputTokens, usage?.outputTokens, usage?.costUsd], [0, 0, 0])
  })

  it('reports which answers were cut off', async (test) => {
    const {baseUrl} = await scriptedInference(test, (response, _call, count) =>
      response.end(answerLines('Yes.', count === 4 ? {done_reason: 'length'} : {})),
    )
    const {details} = await processorFor(baseUrl).run(aTask(), recordedReport(), unstopped)
    assert.deepEqual(details.cut_off, ['act'])
  })

  it('parses an answer in arbitrary pieces and with blank lines', async (test) => {
    const {baseUrl} = await scriptedInference(test, async (response, _call, count) => {
      const bytes = Buffer.from(answerLines(answers[count - 1] ?? '').replaceAll('\n', '\r\n\n'))
      for (let at = 0; at < bytes.length; at += 7) {
        response.write(bytes.subarray(at, at + 7))
        await sleep(0)
      }
      response.end()
    })
    const {text} = await processorFor(baseUrl).run(aTask(), recordedReport(), unstopped)
    assert.equal(text, 'Seven – 7 𝄞')
  })

  it('finishes with the done line although the connection stays open', async (test) => {
    const server = await scriptedInference(test, (response) => response.write(answerLines('Yes.')))
    const {text} = await processorFor(server.baseUrl).run(aTask(), recordedReport(), unstopped)
    assert.equal(text, 'Yes.')
    await server.hungUp
  })

  it('uses the API key of the server', async (test) => {
    const server = await scriptedInference(test, wellBehaved)
    await processorFor(server.baseUrl, {}, {SVC_INFERENCE_API_KEY: 'sesame-key'}).run(
      aTask(),
      recordedReport(),
      unstopped,
    )
    assert.deepEqual([...new Set(server.headers.map(({authorization}) => authorization))], ['Bearer sesame-key'])
  })

  it('works with svc serve', async (test) => {
    const folder = await temporaryFolder(test)
    await writeTinyModel(folder, {contextLength: 8192})
    const server = await startServer([
      '--model',
      folder,
      '--model-name',
      'run-a',
      '--num-ctx',
      '8192',
      '--threads',
      '1',
    ])
    test.after(() => server.stop())
    const env = {SVC_INFERENCE_MAX_TOKENS: '24', SVC_INFERENCE_TEMPERATURE: '0'}
    const report = recordedReport()
    const {text, usage} = await processorFor(server.baseUrl, {}, env).run(aTask(), report, unstopped)
    assert.notEqual(text, '')
    assert.ok((usage?.inputTokens ?? 0) > 6 * aTask().description.length)
    assert.ok((usage?.outputTokens ?? 0) > 0)
    assert.deepEqual(
      report.entries.filter((line) => line.startsWith('phase ')),
      taskPhases.map((phase) => `phase ${phase}`),
    )
  })
})

describe('the model of an AI task', () => {
  const cases: readonly [
    string,
    Parameters<typeof aTask>[0],
    readonly string[] | 'none',
    Record<string, string>,
    string,
  ][] = [
    ['is the configured one', {}, ['run-b', 'run-a'], {}, 'run-a'],
    ['is that of the server if none is configured', {}, ['run-q'], {SVC_INFERENCE_MODEL: ''}, 'run-q'],
    ['is the preferred one', {model_preference: 'run-b'}, ['run-a', 'run-b'], {}, 'run-b'],
    [
      'is the configured one if the preferred one is not available',
      {model_preference: 'run-x'},
      ['run-a'],
      {},
      'run-a',
    ],
    ['is the required one', {model_override: 'run-x'}, ['run-a'], {}, 'run-x'],
    ['is the configured one if the server lists none', {model_preference: 'run-b'}, 'none', {}, 'run-a'],
  ]
  for (const [name, facts, models, env, expected] of cases)
    it(name, async (test) => {
      const server = await scriptedInference(test, wellBehaved, models)
      const {usage} = await processorFor(server.baseUrl, {}, env).run(aTask(facts), recordedReport(), unstopped)
      assert.equal(usage?.model, expected)
      assert.deepEqual([...new Set(server.calls.map(({model}) => model))], [expected])
    })

  it('is the configured one if the list times out', async (test) => {
    const server = await scriptedInference(test, wellBehaved, 'silence')
    const {usage} = await underCollection(processorFor(server.baseUrl).run(aTask(), recordedReport(), unstopped))
    assert.equal(usage?.model, 'run-a')
  })

  it('is reported with the reason before it is used', async (test) => {
    const chosen: [number, ModelChoice, number][] = []
    const server = await scriptedInference(test, wellBehaved, ['run-a', 'run-b'])
    const processor = processorFor(server.baseUrl, {
      prices: {'run-b': 0.001},
      costPreference: 'economy',
      onModelChosen: ({id}, choice) => chosen.push([id, choice, server.calls.length]),
    })
    await processor.run(aTask({model_preference: 'run-x'}), recordedReport(), unstopped)
    assert.deepEqual(chosen, [[42, {model: 'run-b', registryHit: true, fallback: true}, 0]])
  })
})

const says =
  (text: string, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(200, headers).end(text)
const first = line({response: 'Sev', done: false})

describe('a server that violates the protocol', () => {
  const cases: readonly [kind: string, answer: Answer, reason: RegExp][] = [
    ['sends an incomplete answer', says(first), /its answer is incomplete\.$/],
    ['sends an empty answer', says(''), /its answer is incomplete\.$/],
    ['returns a web page', says('<!doctype html>', {'content-type': 'text/html; charset=utf-8'}), /a web page\.$/],
    [
      'returns an endless web page',
      (response) => response.writeHead(200, {'content-type': 'text/html'}).write('<p>'),
      /a web page\.$/,
    ],
    ['returns a page with a JSON content type', says('<html>'), /line 1 is not JSON\.$/],
    ['sends half a line', says(`${first}{"response":`), /line 2 is not JSON\.$/],
    ['sends invalid UTF-8', (response) => response.end(Buffer.from([0x7b, 0xff, 0x0a])), /line 1 is not UTF-8/],
    ['sends a list', says('[]\n'), /a line is not a JSON object\.$/],
    ['sends null', says('null\n'), /a line is not a JSON object\.$/],
    ['sends a number for the text', says(line({response: 7, done: false})), /"response" in a line is not a string\.$/],
    ['sends no text', says(line({done: false})), /"response" in a line is not a string\.$/],
    ['sends no text at the end', says(line({response: null, done: true})), /"response" in a line is not a string\.$/],
    ['sends a string for done', says(line({response: 'x', done: 'yes'})), /"done" in a line is not a boolean\.$/],
    ['omits done', says(line({response: 'x'})), /"done" in a line is not a boolean\.$/],
    ['sends an invalid count', says(answerLines('x', {eval_count: '12'})), /"eval_count" is not a token count\.$/],
    [
      'sends a negative count',
      says(answerLines('x', {prompt_eval_count: -1})),
      /"prompt_eval_count" is not a token count\.$/,
    ],
    ['sends a fractional count', says(answerLines('x', {eval_count: 1.5})), /"eval_count" is not a token count\.$/],
    ['sends one endless line', (response) => forever(response, 'x'.repeat(65_536)), /longer than 4194304 bytes\.$/],
    [
      'never stops generating',
      (response) => forever(response, line({response: 'x'.repeat(4096), done: false})),
      /its answer is longer than 1048576 characters\.$/,
    ],
    ['redirects', (response) => response.writeHead(302, {location: '/login'}).end(), /returns status 302\.$/],
  ]
  for (const [kind, answer, reason] of cases)
    it(`${kind}: fails`, async (test) => {
      const {error} = await failure(test, answer)
      assert.equal(error.code, 'inference_protocol')
      assert.match(error.message, /^http:\/\/127\.0\.0\.1:\d+\/api\/generate is not a compatible inference server: /)
      assert.match(error.message, reason)
    })

  // An answer that reaches the total size limit is tested in `ai.slow.ts`.
  it('never stops sending lines without text: fails', async (test) => {
    const {baseUrl} = await scriptedInference(test, linesWithoutText)
    const {endpoint} = resolveEndpoint({env: {SVC_INFERENCE_URL: baseUrl}})
    const client = inferenceClient(endpoint, {})
    test.after(() => client.close())
    const request = {model: 'run-a', system: '', prompt: 'x', temperature: 0, maxTokens: 1}
    const run = generate(client, request, unstopped, {...defaultGenerationLimits, totalBytes: 1 << 20})
    await assert.rejects(run, {code: 'inference_protocol', message: /sends more than 1048576 bytes\.$/})
  })

  it('is disconnected immediately', async (test) => {
    const {server} = await failure(test, (response) => {
      response.write('no\n')
    })
    await server.hungUp
  })
})

describe('a failing server', () => {
  const cases: readonly [string, Answer, SvcError['code'], RegExp][] = [
    [
      'sends an error line',
      says(`${first}{"error":"out of memory."}\n`),
      'inference_failed',
      /aborted its response: out of memory\.$/,
    ],
    [
      'sends an error in the format of OpenAI',
      says('{"error":{"message":"no GPU"}}\n'),
      'inference_failed',
      /: no GPU\.$/,
    ],
    ['sends an empty error', says('{"error":""}\n'), 'inference_failed', /: no reason reported\.$/],
    [
      'refuses',
      (response) => response.writeHead(404).end('{"error":"model \\"run-a\\" not found"}'),
      'http_status',
      /responded with status 404: model "run-a" not found\.$/,
    ],
    ['breaks the connection', (response) => void response.write(first, () => response.destroy()), 'unreachable', /./],
    ['stops sending', (response) => response.write(first), 'timeout', /did not respond within 200 ms\.$/],
    ['never responds', () => undefined, 'timeout', /did not respond within 200 ms\.$/],
  ]
  for (const [kind, answer, code, message] of cases)
    it(`${kind}: fails`, async (test) => {
      const {error} = await failure(test, answer, {idleTimeoutMs: 200})
      assert.equal(error.code, code)
      assert.match(error.message, message)
    })

  it('is not running: fails', async () => {
    const run = processorFor('http://127.0.0.1:9').run(aTask(), recordedReport(), unstopped)
    await assert.rejects(run, (error) => isErrorOf(error, 'unreachable'))
  })

  it('fails in the current phase', async (test) => {
    const {report} = await failure(test, (response, call, count) =>
      count < 3 ? wellBehaved(response, call, count) : response.end('{"error":"x"}'),
    )
    assert.deepEqual(report.entries.at(-1), 'phase hypothesize')
    assert.equal(report.entries.length, 5)
  })
})

describe('a model with empty answers', () => {
  const silentIn =
    (phase: number): Answer =>
    (response, _call, count) =>
      response.end(answerLines(count === phase ? ' \n' : 'Yes.'))

  it('fails the act phase', async (test) => {
    const {error} = await failure(test, silentIn(4))
    assert.equal(error.code, 'task_run_failed')
    assert.match(error.message, /run-a returned an empty answer/)
  })

  it('can return an empty answer in another phase', async (test) => {
    const {baseUrl} = await scriptedInference(test, silentIn(1))
    const report = recordedReport()
    assert.equal((await processorFor(baseUrl).run(aTask(), report, unstopped)).text, 'Yes.')
    assert.deepEqual(report.entries.slice(0, 2), ['phase inspect', 'phase localize'])
  })
})

describe('an aborted AI task', () => {
  const reason = new Error('The user stopped it.')
  const stopped = (error: unknown) => error === reason

  it('disconnects during an answer and fails with the reason', async (test) => {
    const stop = new AbortController()
    const server = await scriptedInference(test, async (response) => {
      response.write(first)
      await sleep(50)
      stop.abort(reason)
    })
    const report = recordedReport()
    await assert.rejects(processorFor(server.baseUrl).run(aTask(), report, stop.signal), stopped)
    await server.hungUp
    assert.deepEqual(report.entries, ['phase inspect'])
  })

  it('disconnects before the first token', async (test) => {
    const stop = new AbortController()
    const server = await scriptedInference(test, () => stop.abort(reason))
    await assert.rejects(processorFor(server.baseUrl).run(aTask(), recordedReport(), stop.signal), stopped)
    await server.hungUp
  })

  it('does not wait for the list of models', async (test) => {
    const stop = new AbortController()
    const server = await scriptedInference(test, wellBehaved, 'silence')
    const ended = assert.rejects(processorFor(server.baseUrl).run(aTask(), recordedReport(), stop.signal), stopped)
    await until(() => server.headers.length > 0, 'the models are requested')
    stop.abort(reason)
    await ended
    await server.hungUp
    assert.equal(server.calls.length, 0)
  })

  it('sends no request if it was already aborted', async (test) => {
    const server = await scriptedInference(test, wellBehaved)
    const run = processorFor(server.baseUrl).run(aTask(), recordedReport(), AbortSignal.abort(reason))
    await assert.rejects(run, stopped)
    assert.equal(server.headers.length, 0)
  })

  it('starts no other phase', async (test) => {
    const stop = new AbortController()
    const server = await scriptedInference(test, wellBehaved)
    const report = {...recordedReport(), message: () => stop.abort(reason)}
    await assert.rejects(processorFor(server.baseUrl).run(aTask(), report, stop.signal), stopped)
    assert.equal(server.calls.length, 1)
  })
})
