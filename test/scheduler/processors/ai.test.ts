import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {isErrorOf, type SvcError} from '../../../src/errors/index.js'
import {
  defaultGenerationLimits,
  generate,
  inferenceClient,
  resolveEndpoint,
} from '../../../src/inference-client/index.js'
import {taskPhases} from '../../../src/tasks/base/vocabulary.js'
import type {ModelChoice} from '../../../src/tasks/models/choose-model.js'
import {type Answer, answerLines, scriptedInference} from '../../support/scripted-inference.js'
import {startServer} from '../../support/server.js'
import {temporaryFolder} from '../../support/temporary.js'
import {writeTinyModel} from '../../support/tiny-model.js'
import {aTask, recordedReport, underCollection, unstopped} from './a-task.js'
import {failure, forever, line, linesWithoutText, processorFor} from './ai-run.js'

/** Answers of the six phases; the counts of the last line are those of a server that counts. */
const answers = ['A number is asked for.', 'Among the primes.', 'Seven fits.', 'Seven – 7 𝄞', 'No fault.', 'Done.']
const wellBehaved: Answer = (response, _call, count) =>
  response.end(answerLines(answers[count - 1] ?? '', {prompt_eval_count: 100 + count, eval_count: 10}))

describe('a task that a model does', () => {
  it('goes through six phases, each with a generation of its own', async (test) => {
    const server = await scriptedInference(test, wellBehaved)
    const report = recordedReport()
    const outcome = await processorFor(server.baseUrl).run(aTask(), report, unstopped)
    assert.deepEqual(
      report.told,
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

  it('lets each phase read what the earlier ones answered', async (test) => {
    const server = await scriptedInference(test, wellBehaved)
    await processorFor(server.baseUrl).run(aTask(), recordedReport(), unstopped)
    for (const [i, {prompt}] of server.calls.entries())
      assert.deepEqual(
        answers.map((answer) => prompt.includes(answer)),
        answers.map((_, j) => j < i),
      )
  })

  for (const [said, shown, env, mostBytes] of [
    ['its server runs it with', {parameters: 'num_ctx                        32768'}, {}, 91_968],
    ['it was made for, where that is less than usual', {model_info: {'llama.context_length': 2048}}, {}, 2880],
    ['servers usually give, where it was made for more', {model_info: {'llama.context_length': 131_072}}, {}, 5952],
    ['servers usually give, where nobody says', {}, {}, 5952],
    ['a user sets, which is asked for', {parameters: 'num_ctx 512'}, {SVC_INFERENCE_CONTEXT_LENGTH: '16384'}, 42_816],
  ] as const)
    it(`reads as much as fits into the context that ${said}`, async (test) => {
      const long = 'x'.repeat(200_000)
      const answer: Answer = (response) => response.end(answerLines(long))
      const server = await scriptedInference(test, answer, ['run-a'], shown)
      await processorFor(server.baseUrl, {}, env).run(aTask(), recordedReport(), unstopped)
      const last = server.calls.at(-1)
      const bytes = Buffer.byteLength(`${last?.system}${last?.prompt}`)
      assert.ok(bytes <= mostBytes && bytes > mostBytes * 0.9, `${bytes} bytes`)
      assert.equal(last?.options.num_ctx?.toString(), (env as Record<string, string>).SVC_INFERENCE_CONTEXT_LENGTH)
    })

  it('tells the tokens of all phases and what they cost', async (test) => {
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

  it('counts no tokens where the server counts none', async (test) => {
    const {baseUrl} = await scriptedInference(test, (response) => response.end(answerLines('Yes.')))
    const {usage} = await processorFor(baseUrl).run(aTask(), recordedReport(), unstopped)
    assert.deepEqual([usage?.inputTokens, usage?.outputTokens, usage?.costUsd], [0, 0, 0])
  })

  it('says which answers were cut off', async (test) => {
    const {baseUrl} = await scriptedInference(test, (response, _call, count) =>
      response.end(answerLines('Yes.', count === 4 ? {done_reason: 'length'} : {})),
    )
    const {details} = await processorFor(baseUrl).run(aTask(), recordedReport(), unstopped)
    assert.deepEqual(details.cut_off, ['act'])
  })

  it('reads an answer however it is cut into pieces, and whatever stands between the lines', async (test) => {
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

  it('takes the answer when it is done, although the server keeps the connection open', async (test) => {
    const server = await scriptedInference(test, (response) => response.write(answerLines('Yes.')))
    const {text} = await processorFor(server.baseUrl).run(aTask(), recordedReport(), unstopped)
    assert.equal(text, 'Yes.')
    await server.hungUp
  })

  it('needs the key of the server', async (test) => {
    const server = await scriptedInference(test, wellBehaved)
    await processorFor(server.baseUrl, {}, {SVC_INFERENCE_API_KEY: 'sesame-key'}).run(
      aTask(),
      recordedReport(),
      unstopped,
    )
    assert.deepEqual([...new Set(server.headers.map(({authorization}) => authorization))], ['Bearer sesame-key'])
  })

  it('is done by svc serve', async (test) => {
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
      report.told.filter((line) => line.startsWith('phase ')),
      taskPhases.map((phase) => `phase ${phase}`),
    )
  })
})

describe('the model that is asked', () => {
  const cases: readonly [
    string,
    Parameters<typeof aTask>[0],
    readonly string[] | 'none',
    Record<string, string>,
    string,
  ][] = [
    ['is the configured one', {}, ['run-b', 'run-a'], {}, 'run-a'],
    ['is the one that the server has, where none is named', {}, ['run-q'], {SVC_INFERENCE_MODEL: ''}, 'run-q'],
    ['is the one that the task wishes for', {model_preference: 'run-b'}, ['run-a', 'run-b'], {}, 'run-b'],
    ['is the configured one where the wish is not served', {model_preference: 'run-x'}, ['run-a'], {}, 'run-a'],
    ['is the one that the task demands', {model_override: 'run-x'}, ['run-a'], {}, 'run-x'],
    ['is the configured one where the server lists nothing', {model_preference: 'run-b'}, 'none', {}, 'run-a'],
  ]
  for (const [name, facts, models, env, expected] of cases)
    it(name, async (test) => {
      const server = await scriptedInference(test, wellBehaved, models)
      const {usage} = await processorFor(server.baseUrl, {}, env).run(aTask(facts), recordedReport(), unstopped)
      assert.equal(usage?.model, expected)
      assert.deepEqual([...new Set(server.calls.map(({model}) => model))], [expected])
    })

  it('is the configured one where the list does not come in time', async (test) => {
    const server = await scriptedInference(test, wellBehaved, 'silence')
    const {usage} = await underCollection(processorFor(server.baseUrl).run(aTask(), recordedReport(), unstopped))
    assert.equal(usage?.model, 'run-a')
  })

  it('is told before it is asked, and why', async (test) => {
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

describe('a server that does not keep to the wire', () => {
  const cases: readonly [kind: string, answer: Answer, reason: RegExp][] = [
    ['breaks its answer off', says(first), /its answer is incomplete\.$/],
    ['says nothing at all', says(''), /its answer is incomplete\.$/],
    ['answers with a web page', says('<!doctype html>', {'content-type': 'text/html; charset=utf-8'}), /a web page\.$/],
    [
      'answers with a web page without an end',
      (response) => response.writeHead(200, {'content-type': 'text/html'}).write('<p>'),
      /a web page\.$/,
    ],
    ['answers with a page that calls itself JSON', says('<html>'), /line 1 is not JSON\.$/],
    ['sends half a line', says(`${first}{"response":`), /line 2 is not JSON\.$/],
    [
      'sends bytes that are no text',
      (response) => response.end(Buffer.from([0x7b, 0xff, 0x0a])),
      /line 1 is not UTF-8/,
    ],
    ['sends a list', says('[]\n'), /a line is not a JSON object\.$/],
    ['sends null', says('null\n'), /a line is not a JSON object\.$/],
    ['sends a number for the text', says(line({response: 7, done: false})), /"response" in a line is not a string\.$/],
    ['sends no text', says(line({done: false})), /"response" in a line is not a string\.$/],
    ['sends no text at the end', says(line({response: null, done: true})), /"response" in a line is not a string\.$/],
    ['sends a word for done', says(line({response: 'x', done: 'yes'})), /"done" in a line is not a boolean\.$/],
    ['forgets done', says(line({response: 'x'})), /"done" in a line is not a boolean\.$/],
    ['sends a count that is none', says(answerLines('x', {eval_count: '12'})), /"eval_count" is not a token count\.$/],
    [
      'counts below zero',
      says(answerLines('x', {prompt_eval_count: -1})),
      /"prompt_eval_count" is not a token count\.$/,
    ],
    ['counts halves', says(answerLines('x', {eval_count: 1.5})), /"eval_count" is not a token count\.$/],
    ['sends one endless line', (response) => forever(response, 'x'.repeat(65_536)), /longer than 4194304 bytes\.$/],
    [
      'never stops generating',
      (response) => forever(response, line({response: 'x'.repeat(4096), done: false})),
      /its answer is longer than 1048576 characters\.$/,
    ],
    ['redirects', (response) => response.writeHead(302, {location: '/login'}).end(), /returns status 302\.$/],
  ]
  for (const [kind, answer, reason] of cases)
    it(`${kind}: the error says so`, async (test) => {
      const {error} = await failure(test, answer)
      assert.equal(error.code, 'inference_protocol')
      assert.match(error.message, /^http:\/\/127\.0\.0\.1:\d+\/api\/generate is not a compatible inference server: /)
      assert.match(error.message, reason)
    })

  // An answer that reaches the limit of a whole one is in `ai.slow.ts`.
  it('never stops sending lines without text: the error says so', async (test) => {
    const {baseUrl} = await scriptedInference(test, linesWithoutText)
    const {endpoint} = resolveEndpoint({env: {SVC_INFERENCE_URL: baseUrl}})
    const client = inferenceClient(endpoint, {})
    test.after(() => client.close())
    const request = {model: 'run-a', system: '', prompt: 'x', temperature: 0, maxTokens: 1}
    const run = generate(client, request, unstopped, {...defaultGenerationLimits, totalBytes: 1 << 20})
    await assert.rejects(run, {code: 'inference_protocol', message: /sends more than 1048576 bytes\.$/})
  })

  it('is left at once', async (test) => {
    const {server} = await failure(test, (response) => {
      response.write('no\n')
    })
    await server.hungUp
  })
})

describe('a server that cannot go on', () => {
  const cases: readonly [string, Answer, SvcError['code'], RegExp][] = [
    ['says so in a line', says(`${first}{"error":"out of memory."}\n`), 'inference_failed', /answer: out of memory\.$/],
    ['says so in the shape of OpenAI', says('{"error":{"message":"no GPU"}}\n'), 'inference_failed', /: no GPU\.$/],
    ['says so without a word', says('{"error":""}\n'), 'inference_failed', /: no reason reported\.$/],
    [
      'refuses',
      (response) => response.writeHead(404).end('{"error":"model \\"run-a\\" not found"}'),
      'http_status',
      /answered with status 404: model "run-a" not found\.$/,
    ],
    ['breaks the connection', (response) => void response.write(first, () => response.destroy()), 'unreachable', /./],
    ['falls silent', (response) => response.write(first), 'timeout', /did not answer within 200 ms\.$/],
    ['never begins', () => undefined, 'timeout', /did not answer within 200 ms\.$/],
  ]
  for (const [kind, answer, code, message] of cases)
    it(`${kind}: the error says so`, async (test) => {
      const {error} = await failure(test, answer, {idleTimeoutMs: 200})
      assert.equal(error.code, code)
      assert.match(error.message, message)
    })

  it('is not there: the error says so', async () => {
    const run = processorFor('http://127.0.0.1:9').run(aTask(), recordedReport(), unstopped)
    await assert.rejects(run, (error) => isErrorOf(error, 'unreachable'))
  })

  it('fails the phase in which it happens, after those that went well', async (test) => {
    const {report} = await failure(test, (response, call, count) =>
      count < 3 ? wellBehaved(response, call, count) : response.end('{"error":"x"}'),
    )
    assert.deepEqual(report.told.at(-1), 'phase hypothesize')
    assert.equal(report.told.length, 5)
  })
})

describe('a model that answers nothing', () => {
  const silentIn =
    (phase: number): Answer =>
    (response, _call, count) =>
      response.end(answerLines(count === phase ? ' \n' : 'Yes.'))

  it('has not done the work', async (test) => {
    const {error} = await failure(test, silentIn(4))
    assert.equal(error.code, 'task_run_failed')
    assert.match(error.message, /run-a returned an empty answer/)
  })

  it('may have nothing to say in another phase', async (test) => {
    const {baseUrl} = await scriptedInference(test, silentIn(1))
    const report = recordedReport()
    assert.equal((await processorFor(baseUrl).run(aTask(), report, unstopped)).text, 'Yes.')
    assert.deepEqual(report.told.slice(0, 2), ['phase inspect', 'phase localize'])
  })
})

describe('a task that is stopped', () => {
  const reason = new Error('The user stopped it.')
  const stopped = (error: unknown) => error === reason

  it('hangs up in the middle of an answer, and fails with the reason', async (test) => {
    const stop = new AbortController()
    const server = await scriptedInference(test, async (response) => {
      response.write(first)
      await sleep(50)
      stop.abort(reason)
    })
    const report = recordedReport()
    await assert.rejects(processorFor(server.baseUrl).run(aTask(), report, stop.signal), stopped)
    await server.hungUp
    assert.deepEqual(report.told, ['phase inspect'])
  })

  it('hangs up before the first word', async (test) => {
    const stop = new AbortController()
    const server = await scriptedInference(test, () => stop.abort(reason))
    await assert.rejects(processorFor(server.baseUrl).run(aTask(), recordedReport(), stop.signal), stopped)
    await server.hungUp
  })

  it('does not wait for the list of models', async (test) => {
    const stop = new AbortController()
    const server = await scriptedInference(test, wellBehaved, 'silence')
    setTimeout(() => stop.abort(reason), 50)
    await assert.rejects(processorFor(server.baseUrl).run(aTask(), recordedReport(), stop.signal), stopped)
    await server.hungUp
    assert.equal(server.calls.length, 0)
  })

  it('asks nothing where it was stopped before', async (test) => {
    const server = await scriptedInference(test, wellBehaved)
    const run = processorFor(server.baseUrl).run(aTask(), recordedReport(), AbortSignal.abort(reason))
    await assert.rejects(run, stopped)
    assert.equal(server.headers.length, 0)
  })

  it('begins no other phase', async (test) => {
    const stop = new AbortController()
    const server = await scriptedInference(test, wellBehaved)
    const report = {...recordedReport(), message: () => stop.abort(reason)}
    await assert.rejects(processorFor(server.baseUrl).run(aTask(), report, stop.signal), stopped)
    assert.equal(server.calls.length, 1)
  })
})
