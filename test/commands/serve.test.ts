import assert from 'node:assert/strict'
import {rename, writeFile} from 'node:fs/promises'
import {connect} from 'node:net'
import {join} from 'node:path'
import {text} from 'node:stream/consumers'
import {after, before, describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {Ollama} from 'ollama'
import OpenAI from 'openai'
import {request as httpRequest} from 'undici'
import {sharedData, skipWithout} from '../support/project.js'
import {type RunningServer, startServer} from '../support/server.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, temporaryFolder, writeFiles} from '../support/temporary.js'
import {tinyAdapterFiles, tinyModelFiles, writeTinyModel} from '../support/tiny-model.js'

const published = 'Once upon a time, there was a little girl named Lily. She loved to play outside in the park.'
const greedy = {temperature: 0, num_predict: 40}

const clients = (server: RunningServer) => ({
  ollama: new Ollama({host: server.baseUrl}),
  openai: new OpenAI({baseURL: `${server.baseUrl}/v1`, apiKey: 'none', maxRetries: 0}),
})

async function counter(server: RunningServer, name: string): Promise<number> {
  const text = await (await fetch(`${server.baseUrl}/metrics`)).text()
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `))
  return Number(line?.split(' ').at(-1))
}

/** Waits until a gauge has a given value. */
async function until(server: RunningServer, name: string, value: number): Promise<void> {
  for (const end = performance.now() + 120_000; performance.now() < end; ) {
    if ((await counter(server, name)) === value) return
    await sleep(20)
  }
  assert.fail(`${name} did not become ${value}`)
}

const post = (server: RunningServer, path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(server.baseUrl + path, {
    method: 'POST',
    headers,
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  })

describe('a published model, served', {skip: skipWithout('stories260K')}, () => {
  const model = sharedData('stories260K') ?? ''
  let server: RunningServer
  before(async () => {
    server = await startServer(['--model', `${model}/`])
  })
  after(() => server.stop())

  describe('to the official Ollama client', () => {
    it('is listed, shown and running under its name', async () => {
      const {ollama} = clients(server)
      const {models} = await ollama.list()
      assert.deepEqual(
        models.map(({name, model: same, details}) => [name, same, details.family]),
        [['stories260K', 'stories260K', 'llama']],
      )
      const shown = await ollama.show({model: 'stories260K'})
      assert.match(shown.parameters, /num_ctx +512/)
      assert.deepEqual(
        (await ollama.ps()).models.map(({name}) => name),
        ['stories260K'],
      )
      assert.match((await ollama.version()).version, /^\d+\.\d+\.\d+$/)
    })

    it('generates its published story, raw, complete and streamed', async () => {
      const {ollama} = clients(server)
      const asked = {model: 'stories260K', prompt: 'Once upon a time', raw: true, options: greedy}
      const whole = await ollama.generate({...asked, stream: false})
      // Weights of 4 bits continue with other words.
      const expected = process.env.SVC_PRECISION === 'w4' ? published.slice(0, 80) : published
      assert.ok(`Once upon a time${whole.response}`.startsWith(expected), whole.response)
      assert.deepEqual([whole.done_reason, whole.eval_count, whole.context], ['length', 40, undefined])
      let streamed = ''
      const ends: boolean[] = []
      for await (const part of await ollama.generate({...asked, stream: true})) {
        streamed += part.response
        ends.push(part.done)
      }
      assert.equal(streamed, whole.response)
      assert.deepEqual([ends.at(-1), ends.filter(Boolean).length], [true, 1])
    })

    it('chats, and continues from a returned context', async () => {
      const {ollama} = clients(server)
      const messages = [{role: 'user', content: 'Once upon a time'}]
      let text = ''
      for await (const part of await ollama.chat({
        model: 'stories260K:latest',
        messages,
        stream: true,
        options: greedy,
      })) {
        assert.equal(part.model, 'stories260K:latest')
        text += part.message.content
      }
      assert.match(text, /little girl named Lily/)
      const first = await ollama.generate({
        model: 'stories260K',
        prompt: 'Once upon',
        options: {...greedy, num_predict: 3},
      })
      assert.equal(first.context?.length, first.prompt_eval_count + first.eval_count)
      const second = await ollama.generate({
        model: 'stories260K',
        prompt: ' there',
        context: first.context as number[],
        options: greedy,
      })
      assert.ok(second.prompt_eval_count > first.prompt_eval_count)
    })

    it('returns log-probabilities', async () => {
      const body = {
        prompt: 'Once upon a',
        raw: true,
        stream: false,
        logprobs: true,
        top_logprobs: 3,
        options: {...greedy, num_predict: 4},
      }
      const {response, logprobs} = (await (await post(server, '/api/generate', body)).json()) as {
        response: string
        logprobs: {token: string; logprob: number; top_logprobs: {token: string; logprob: number}[]}[]
      }
      assert.equal(logprobs.map(({token}) => token).join(''), response)
      for (const {logprob, top_logprobs: top, token} of logprobs) {
        assert.equal(top.length, 3)
        assert.deepEqual([top[0]?.token, top[0]?.logprob], [token, logprob])
        assert.ok(logprob <= 0)
      }
    })

    it('stops within one token when the client aborts', async () => {
      const {ollama} = clients(server)
      const stream = await ollama.generate({
        model: 'stories260K',
        prompt: 'Once',
        raw: true,
        stream: true,
        options: {num_predict: 500, temperature: 1},
      })
      await assert.rejects(async () => {
        for await (const _ of stream) stream.abort()
      }, /abort/i)
      await until(server, 'svc_requests_running', 0)
    })

    it('reports invalid requests in a sentence', async () => {
      const {ollama} = clients(server)
      await assert.rejects(
        ollama.show({model: 'stories26K'}),
        /model 'stories26K' not found, did you mean 'stories260K'\?/,
      )
      await assert.rejects(ollama.embeddings({model: 'stories260K', prompt: 'x'}), {status_code: 501})
    })

    it('is unloaded and loaded on request', async () => {
      const {ollama} = clients(server)
      const unloaded = await post(server, '/api/generate', {prompt: '', keep_alive: 0})
      assert.equal(((await unloaded.json()) as {done_reason: string}).done_reason, 'unload')
      assert.deepEqual((await ollama.ps()).models, [])
      const {response} = await ollama.generate({
        model: 'stories260K',
        prompt: 'Once upon a',
        raw: true,
        options: {...greedy, num_predict: 2},
      })
      assert.equal(response, ' time,')
      assert.equal((await ollama.ps()).models.length, 1)
    })
  })

  describe('to the official OpenAI client', () => {
    it('is listed and described', async () => {
      const {openai} = clients(server)
      const ids: string[] = []
      for await (const {id} of openai.models.list()) ids.push(id)
      assert.deepEqual(ids, ['stories260K'])
      assert.equal((await openai.models.retrieve('stories260K')).owned_by, 'svc')
    })

    it('answers several prompts, as text or tokens, independently', async () => {
      const {openai} = clients(server)
      const asked = {model: 'stories260K', temperature: 0, max_tokens: 8}
      const texts = ['Once upon a', 'Lily and', 'The big'] as const
      const alone = await Promise.all(texts.map((prompt) => openai.completions.create({...asked, prompt})))
      const all = await openai.completions.create({...asked, prompt: [...texts], n: 2})
      assert.deepEqual(
        all.choices.map(({index, text}) => [index, text]),
        alone.flatMap(({choices}, i) => [0, 1].map((which) => [2 * i + which, choices[0]?.text])),
      )
      const promptTokens = alone.reduce((sum, {usage}) => sum + (usage?.prompt_tokens ?? 0), 0)
      assert.deepEqual([all.usage?.prompt_tokens, all.usage?.completion_tokens], [promptTokens, 48])

      const streamed = texts.map(() => '')
      for await (const {choices} of await openai.completions.create({...asked, prompt: [...texts], stream: true}))
        for (const {index, text} of choices) streamed[index] += text
      assert.deepEqual(
        streamed,
        alone.map(({choices}) => choices[0]?.text),
      )
      const tokens = await ollamaTokens(texts)
      const inTokens = await openai.completions.create({...asked, prompt: tokens})
      assert.deepEqual(
        inTokens.choices.map(({text}) => text),
        alone.map(({choices}) => choices[0]?.text),
      )
    })

    /** Tokenises texts through the Ollama API. */
    const ollamaTokens = (texts: readonly string[]) =>
      Promise.all(
        texts.map(async (prompt) => {
          const whole = await clients(server).ollama.generate({
            model: 'stories260K',
            prompt,
            options: {num_predict: 1, temperature: 0},
          })
          return whole.context.slice(0, whole.prompt_eval_count)
        }),
      )

    it('scores a continuation for an evaluation harness', async () => {
      const {openai} = clients(server)
      const score = async (whole: string, context: string) => {
        const [tokens, before] = (await ollamaTokens([whole, context])) as [number[], number[]]
        const {choices} = await openai.completions.create({
          model: 'stories260K',
          prompt: [tokens],
          echo: true,
          max_tokens: 1,
          logprobs: 1,
          temperature: 0,
          seed: 1234,
        })
        const {
          token_logprobs: chances = [],
          top_logprobs: tops = [],
          text_offset: offsets = [],
        } = choices[0]?.logprobs ?? {}
        assert.deepEqual([chances.length, chances[0], offsets.length], [tokens.length + 1, null, tokens.length + 1])
        const scored = chances.slice(before.length, -1)
        return {
          sum: scored.reduce((sum, chance) => sum + chance, 0),
          greedy: scored.every((chance, i) => chance === Math.max(...Object.values(tops[before.length + i] ?? {}))),
        }
      }
      const likely = await score('Once upon a time, there was a little girl', 'Once upon a')
      const other = await score('Once upon a pizza of the big dog', 'Once upon a')
      assert.equal(likely.greedy, true)
      assert.equal(other.greedy, false)
      assert.ok(likely.sum > -3 && other.sum < likely.sum - 5, JSON.stringify([likely, other]))
    })

    it('cancels the other prompts if one is refused', async () => {
      const readTokens = () => counter(server, 'svc_tokens_total{kind="prompt"}')
      const before = await readTokens()
      const prompt = ['x'.repeat(2000), ...Array.from({length: 20}, () => 'Once')]
      const refused = await post(server, '/v1/completions', {prompt, max_tokens: 400, temperature: 1})
      assert.equal(refused.status, 400)
      assert.match(await refused.text(), /context_length_exceeded/)
      await until(server, 'svc_requests_running', 0)
      await until(server, 'svc_requests_waiting', 0)
      const [tokens] = await ollamaTokens(['Once'])
      const most = 7 * (tokens?.length ?? 0)
      const read = (await readTokens()) - (tokens?.length ?? 0) - before
      assert.ok(read <= most, `${read} tokens of prompts were read, ${most} may be`)
    })

    it('chats, complete and streamed with usage', async () => {
      const {openai} = clients(server)
      const asked = {
        model: 'stories260K',
        messages: [{role: 'user' as const, content: 'Once upon a time'}],
        temperature: 0,
        max_tokens: 20,
      }
      const whole = await openai.chat.completions.create(asked)
      assert.match(whole.choices[0]?.message.content ?? '', /little girl/)
      assert.deepEqual([whole.choices[0]?.finish_reason, whole.usage?.completion_tokens], ['length', 20])
      let text = ''
      let usage: unknown
      const stream = await openai.chat.completions.create({
        ...asked,
        stream: true,
        stream_options: {include_usage: true},
      })
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? ''
        usage = chunk.usage ?? usage
      }
      assert.equal(text, whole.choices[0]?.message.content)
      assert.deepEqual(usage, whole.usage)
    })

    it('returns n replies, log-probabilities and legacy completions', async () => {
      const {openai} = clients(server)
      const messages = [{role: 'user' as const, content: 'Once'}]
      const many = await openai.chat.completions.create({
        model: 'stories260K',
        messages,
        n: 3,
        seed: 1,
        max_tokens: 12,
        temperature: 1.5,
      })
      assert.equal(new Set(many.choices.map(({message}) => message.content)).size, 3)
      const again = await openai.chat.completions.create({
        model: 'stories260K',
        messages,
        n: 3,
        seed: 1,
        max_tokens: 12,
        temperature: 1.5,
      })
      assert.deepEqual(
        again.choices.map(({message}) => message.content),
        many.choices.map(({message}) => message.content),
      )
      const likely = await openai.chat.completions.create({
        model: 'stories260K',
        messages,
        max_tokens: 3,
        temperature: 0,
        logprobs: true,
        top_logprobs: 2,
      })
      assert.equal(likely.choices[0]?.logprobs?.content?.length, 3)
      const legacy = await openai.completions.create({
        model: 'stories260K',
        prompt: 'Once upon a',
        max_tokens: 2,
        temperature: 0,
      })
      assert.equal(legacy.choices[0]?.text, ' time,')
    })

    it('forces and bans tokens by id', async () => {
      const {openai} = clients(server)
      const asked = {
        model: 'stories260K',
        messages: [{role: 'user' as const, content: 'Once'}],
        max_tokens: 3,
        temperature: 0,
      }
      const forced = await openai.chat.completions.create({...asked, logprobs: true, logit_bias: {'400': 100}})
      const tokens = forced.choices[0]?.logprobs?.content ?? []
      assert.deepEqual([tokens.length, new Set(tokens.map(({token}) => token)).size], [3, 1])
    })

    it('stops when the client aborts', async () => {
      const {openai} = clients(server)
      const stream = await openai.chat.completions.create({
        model: 'stories260K',
        messages: [{role: 'user', content: 'Once'}],
        max_tokens: 500,
        stream: true,
      })
      for await (const _ of stream) stream.controller.abort()
      await until(server, 'svc_requests_running', 0)
    })

    it('returns the errors that the client recognises', async () => {
      const {openai} = clients(server)
      const messages = [{role: 'user' as const, content: 'x'}]
      await assert.rejects(openai.chat.completions.create({model: 'gpt', messages}), {
        status: 404,
        code: 'model_not_found',
      })
      await assert.rejects(openai.chat.completions.create({model: 'stories260K', messages, temperature: 9}), {
        status: 400,
        param: 'temperature',
      })
      const long = [{role: 'user' as const, content: 'x '.repeat(2000)}]
      await assert.rejects(openai.chat.completions.create({model: 'stories260K', messages: long}), {
        status: 400,
        code: 'context_length_exceeded',
        message: /\d{4} tokens .* 512/,
      })
      await assert.rejects(openai.embeddings.create({model: 'stories260K', input: 'x'}), {
        status: 400,
        code: 'unsupported_value',
      })
    })
  })

  it('computes 8 streams together with the same results as separately', async () => {
    const {ollama} = clients(server)
    const prompts: string[] = ['Once', 'Lily', 'The big', 'One day', 'Her mom', 'A red ball', 'He said', 'They play']
    const tell = async (prompt: string) =>
      (await ollama.generate({model: 'stories260K', prompt, raw: true, options: {temperature: 0, num_predict: 30}}))
        .response
    const alone: (string | undefined)[] = []
    for (const prompt of prompts) alone.push(await tell(prompt))
    const before = await counter(server, 'svc_batched_runs_total')
    assert.deepEqual(await Promise.all(prompts.map(tell)), alone)
    assert.ok((await counter(server, 'svc_batched_runs_total')) > before, 'runs for more than one request')
  })

  it('generates at most one more token after a client has disconnected', async () => {
    const {port} = new URL(server.baseUrl)
    const body = JSON.stringify({prompt: 'Once', raw: true, options: {num_predict: 400, temperature: 1}})
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(`POST /api/generate HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    await new Promise((resolve) => socket.once('data', resolve))
    socket.destroy()
    await until(server, 'svc_requests_running', 0)
    const tokens = await counter(server, 'svc_tokens_total{kind="completion"}')
    // While another request takes several steps of the model, the first one gets none.
    const other = {prompt: 'Once', raw: true, stream: false, options: {temperature: 0, num_predict: 20}}
    const {eval_count: count} = (await (await post(server, '/api/generate', other)).json()) as {eval_count: number}
    assert.equal(await counter(server, 'svc_tokens_total{kind="completion"}'), tokens + count)
  })
})

describe('a trained run directory, served', () => {
  const root = suiteFolder()
  const run = join(root, 'my-run')
  const failedEvaluation = '{"status":"fail"}'
  before(async () => {
    await writeTinyModel(join(root, 'base'))
    const {'adapter_manifest.json': manifest, ...weights} = tinyAdapterFiles()
    const declared = {...JSON.parse(manifest as string), base_model: '../base'}
    await writeFiles(run, {
      ...weights,
      'adapter_manifest.json': JSON.stringify(declared),
      'collateral_damage_report.json': failedEvaluation,
    })
  })

  const reply = async (server: RunningServer) => {
    const body = {prompt: 'Hello', raw: true, stream: false, options: {temperature: 0, num_predict: 20}}
    return ((await (await post(server, '/api/generate', body)).json()) as {response: string}).response
  }

  it('applies the adapter to the base of the manifest; --ignore-eval-gate overrides a failed evaluation', async () => {
    const adapted = await startServer(['--model', run, '--ignore-eval-gate'])
    // With the default number of threads.
    const env = {SVC_THREADS: '0'}
    const plain = await startServer(['--model', join(root, 'base'), '--model-name', ' plain '], {env})
    try {
      assert.notEqual(await reply(adapted), await reply(plain))
      assert.doesNotMatch(adapted.stderr(), /no adapter/)
      assert.match(plain.stderr(), /no adapter/)
      assert.deepEqual(
        (await clients(plain).ollama.list()).models.map(({name}) => name),
        ['plain'],
      )
      assert.deepEqual(
        (await clients(adapted).ollama.list()).models.map(({name}) => name),
        ['my-run'],
      )
    } finally {
      assert.deepEqual([await adapted.stop(), await plain.stop('SIGINT')], [0, 0])
    }
  })

  it('serves raw prompts if the chat template is invalid, and --system with a valid one', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFiles(folder, {
      ...tinyModelFiles(),
      'chat_template.jinja': '{% include "x" %}',
      'own.jinja': ownTemplate,
    })
    const broken = await startServer(['--model', folder, '--model-name', 'broken'])
    const own = await startServer([
      '--model',
      folder,
      '--chat-template',
      join(folder, 'own.jinja'),
      '--system',
      'Be kind.',
    ])
    const messages = [{role: 'user', content: 'Hi'}]
    const chat = {messages, stream: false, options: {num_predict: 1}}
    try {
      assert.match(
        broken.stderr(),
        /warning: The chat template .*chat_template\.jinja cannot be used: unknown statement/,
      )
      assert.notEqual(await reply(broken), '')
      for (const path of ['/api/chat', '/v1/chat/completions']) {
        const refused = await post(broken, path, {messages})
        assert.equal(refused.status, 400)
        assert.match(await refused.text(), /unknown statement 'include' \(line 1\)/)
      }
      const shown = (await (await post(broken, '/api/show', {model: 'broken'})).json()) as {template_error: string}
      assert.match(shown.template_error, /unknown statement/)
      const answered = (await (await post(own, '/api/chat', chat)).json()) as {prompt_eval_count: number}
      assert.equal(answered.prompt_eval_count, 'system=Be kind.;user=Hi;'.length)
    } finally {
      await Promise.all([broken.stop(), own.stop()])
    }
  })
  const ownTemplate = '{% for m in messages %}{{ m.role }}={{ m.content }};{% endfor %}'

  const refused: readonly [string, Record<string, string | Uint8Array>, string[], number, RegExp][] = [
    [
      'an adapter for another base model',
      tinyAdapterFiles({hiddenSize: 64}),
      [],
      2,
      /l0\.q\.lora_a of shape \[4, 64\] .* model\.layers\.0\.self_attn\.q_proj\.weight of shape \[64, 48\]/,
    ],
    [
      'a manifest without weights',
      {'adapter_manifest.json': tinyAdapterFiles()['adapter_manifest.json'] as string},
      [],
      3,
      /has no adapter weights\./,
    ],
    [
      'a failed evaluation',
      {'collateral_damage_report.json': failedEvaluation},
      [],
      1,
      /training run failed its evaluation/,
    ],
    [
      'DoRA',
      {
        ...tinyAdapterFiles({}, {form: 'peft'}),
        'adapter_config.json': '{"peft_type":"LORA","r":4,"lora_alpha":8,"use_dora":true}',
      },
      [],
      1,
      /use_dora to true/,
    ],
    ['an unavailable device', {}, ['--device', 'cuda'], 5, /device cuda cannot be used/],
  ]
  for (const [name, files, args, exit, says] of refused)
    it(`refuses before opening the port: ${name}`, async (test) => {
      const folder = await temporaryFolder(test)
      await writeFiles(folder, {...tinyModelFiles(), ...files})
      const {stderr, stdout, exitCode} = await svcInTurn(['serve', '--model', folder, '--port', '0', ...args])
      assert.match(stderr, says)
      assert.deepEqual([stdout, exitCode], ['', exit])
    })
})

describe('a server with invalid or slow clients', () => {
  const model = suiteFolder()
  let server: RunningServer
  before(async () => {
    await writeTinyModel(model, {contextLength: 4096})
    server = await startServer(['--model', model, '--model-name', 'tiny', '--parallel', '2', '--queue', '2'])
  })
  after(() => server.stop())
  const endless = {prompt: 'Hi', raw: true, options: {num_predict: 4000, temperature: 1}}

  const bad: readonly [string, string, unknown, number, RegExp][] = [
    ['a body that is not JSON', '/api/generate', '{"prompt":', 400, /not valid JSON/],
    ['a body that is not UTF-8', '/api/chat', Uint8Array.of(0x22, 0xff, 0x22), 400, /not UTF-8/],
    ['no body', '/api/generate', '', 400, /missing request body/],
    ['a negative num_predict', '/api/generate', {prompt: 'x', options: {num_predict: -5}}, 400, /num_predict/],
    [
      'an option that is not a number',
      '/api/generate',
      '{"prompt":"x","options":{"temperature":NaN}}',
      400,
      /not valid JSON/,
    ],
    [
      'an option of the wrong type',
      '/api/generate',
      {prompt: 'x', options: {top_k: 'many'}},
      400,
      /option ..top_k.. must be of type integer/,
    ],
    [
      'a prompt longer than the context',
      '/api/generate',
      {prompt: 'x'.repeat(5000), raw: true},
      400,
      /5001 tokens .* 4096/,
    ],
    [
      '1,000 stop strings',
      '/api/generate',
      {prompt: 'x', options: {stop: Array.from({length: 1000}, (_, i) => `s${i}`)}},
      400,
      /stop/,
    ],
    [
      '1,000 stop strings, OpenAI',
      '/v1/chat/completions',
      {messages: [{role: 'user', content: 'x'}], stop: Array.from({length: 1000}, (_, i) => `s${i}`)},
      400,
      /stop/,
    ],
    ['an unknown model', '/api/chat', {model: 'tinny', messages: []}, 404, /'tinny' not found, did you mean 'tiny'/],
    ['a format that is none', '/api/generate', {prompt: 'x', format: 'xml'}, 400, /format/],
    [
      'a schema that cannot be enforced',
      '/api/generate',
      {prompt: 'x', format: {type: 'array', items: {type: 'string'}, uniqueItems: true}},
      400,
      /The keyword uniqueItems at #\/uniqueItems cannot be enforced/,
    ],
    [
      'tools',
      '/v1/chat/completions',
      {messages: [{role: 'user', content: 'x'}], tools: [{type: 'function'}]},
      400,
      /tools/,
    ],
    ['thinking', '/api/chat', {messages: [{role: 'user', content: 'x'}], think: true}, 400, /think/],
    ['a suffix', '/api/generate', {prompt: 'x', suffix: 'y'}, 400, /insert/],
    ['a token that is none', '/api/generate', {prompt: 'x', context: [99_999]}, 400, /token 99999/],
    ['an unknown route', '/api/nothing', {}, 404, /Unknown route/],
    ['embeddings, whatever the body', '/api/embeddings', '{', 501, /not implemented/],
    ['embeddings by their newer name', '/api/embed', '{', 400, /this server does not support embeddings/],
    ['pulling a model', '/api/pull', {model: 'x'}, 403, /was not started to download and delete models/],
    ['a faulty grammar', '/v1/completions', {prompt: 'x', grammar: 'root ::= "a'}, 400, /grammar is invalid at line 1/],
    [
      'a JSON schema that nothing matches',
      '/v1/chat/completions',
      {messages: [{role: 'user', content: 'x'}], guided_json: {type: 'object', not: {}}},
      400,
      /No JSON value is valid for the schema/,
    ],
    [
      'a bias that bans every token',
      '/v1/completions',
      {prompt: 'x', logit_bias: Object.fromEntries(Array.from({length: 257}, (_, id) => [id, -100]))},
      400,
      /logit_bias bans every token/,
    ],
  ]
  for (const [name, path, asked, status, says] of bad)
    it(`answers ${status}: ${name}`, async () => {
      const response = await post(server, path, asked)
      const body = await response.text()
      assert.equal(response.status, status, body)
      assert.match(body, says)
      assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
      const {error} = JSON.parse(body)
      assert.equal(typeof error, path.startsWith('/v1') ? 'object' : 'string')
      assert.ok(response.headers.get('x-request-id'))
    })

  it('logs no error when a client disconnects before an unstreamed reply', async () => {
    const abort = new AbortController()
    const body = JSON.stringify({...endless, stream: false})
    const asked = fetch(`${server.baseUrl}/api/generate`, {method: 'POST', body, signal: abort.signal})
    asked.catch(() => undefined)
    await until(server, 'svc_requests_running', 1)
    abort.abort()
    await until(server, 'svc_requests_running', 0)
    assert.doesNotMatch(server.stderr(), /"error"/)
    const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text()
    assert.match(metrics, /svc_http_requests_total\{status="499"\} [1-9]/)
  })

  it('completes a running reply before it unloads the model', async () => {
    const body = {...endless, stream: false, options: {num_predict: 200, temperature: 1}}
    const asked = post(server, '/api/generate', body)
    await until(server, 'svc_requests_running', 1)
    assert.equal((await post(server, '/api/generate', {keep_alive: 0})).status, 200)
    const reply = await asked
    assert.equal(reply.status, 200, await reply.text())
    await until(server, 'svc_model_loaded', 0)
  })

  it('answers 413 to a body of 10 MB before it is sent', async () => {
    const socket = connect(Number(new URL(server.baseUrl).port), '127.0.0.1')
    socket.write(`POST /api/generate HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${10 << 20}\r\n\r\n{"prompt":"`)
    const answer = await text(socket)
    assert.match(answer, /^HTTP\/1\.1 413 /)
    assert.match(answer, /exceeds \d+ KiB/)
  })

  it('answers 405 with the allowed methods of a route', async () => {
    const response = await fetch(`${server.baseUrl}/api/chat`)
    assert.deepEqual([response.status, response.headers.get('allow')?.includes('POST')], [405, true])
  })

  it('refuses foreign hosts and origins, and accepts those of this machine', async () => {
    const status = async (headers: Record<string, string>) =>
      (await httpRequest(`${server.baseUrl}/api/tags`, {headers})).statusCode
    assert.equal(await status({host: 'evil.example'}), 403)
    assert.equal(await status({origin: 'https://evil.example'}), 403)
    assert.equal(await status({origin: 'http://localhost:3000'}), 200)
    const preflight = await fetch(`${server.baseUrl}/v1/chat/completions`, {
      method: 'OPTIONS',
      headers: {
        origin: 'http://localhost:3000',
        'access-control-request-headers': 'authorization,x-title, openai-organization, baggage, x y',
      },
    })
    assert.deepEqual(
      [preflight.status, preflight.headers.get('access-control-allow-headers')],
      [204, 'authorization, x-title, openai-organization, baggage'],
    )
  })

  it('answers 503 with Retry-After when the queue is full', async () => {
    const abort = new AbortController()
    const all = Array.from({length: 4}, () =>
      fetch(`${server.baseUrl}/api/generate`, {method: 'POST', body: JSON.stringify(endless), signal: abort.signal}),
    )
    await until(server, 'svc_requests_waiting', 2)
    const refused = await post(server, '/v1/completions', {prompt: 'x'})
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1'])
    abort.abort()
    await Promise.allSettled(all)
    await until(server, 'svc_requests_running', 0)
  })

  it('waits for a slow reader while serving others', async () => {
    const {port} = new URL(server.baseUrl)
    const body = JSON.stringify({...endless, logprobs: true, top_logprobs: 20})
    const slow = connect(Number(port), '127.0.0.1')
    slow.write(`POST /api/generate HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    await new Promise((resolve) => slow.once('readable', resolve))
    slow.pause()
    const other = await post(server, '/api/generate', {...endless, stream: false, options: {num_predict: 5}})
    assert.equal(((await other.json()) as {eval_count: number}).eval_count, 5)
    slow.destroy()
    await until(server, 'svc_requests_running', 0)
  })

  it('answers other requests while it processes a long prompt', async () => {
    let isRead = false
    const long = post(server, '/api/generate', {
      prompt: 'x'.repeat(4000),
      raw: true,
      stream: false,
      options: {num_predict: 1},
    }).finally(() => {
      isRead = true
    })
    await until(server, 'svc_requests_running', 1)
    let answered = 0
    while (!isRead && answered < 20) {
      await (await fetch(`${server.baseUrl}/api/version`)).text()
      if (!isRead) answered++
    }
    assert.equal((await long).status, 200)
    assert.ok(answered > 0)
  })

  it('keeps using the loaded model when its file is replaced', async () => {
    const file = join(model, 'model-00001-of-00002.safetensors')
    await writeFile(`${file}.new`, 'damaged')
    await rename(`${file}.new`, file)
    const response = await post(server, '/api/generate', {...endless, stream: false, options: {num_predict: 5}})
    assert.equal(response.status, 200)
    await post(server, '/api/generate', {prompt: '', keep_alive: 0})
    const reloaded = await post(server, '/api/generate', {...endless, stream: false})
    assert.deepEqual([reloaded.status, /not a valid safetensors/.test(await reloaded.text())], [500, true])
  })
})

describe('a server with an API key', () => {
  const model = suiteFolder()
  const key = {authorization: 'Bearer sesame-open'}
  let server: RunningServer
  before(async () => {
    await writeTinyModel(model, {contextLength: 4096})
    server = await startServer(
      ['--model', model, '--api-key-env', 'MY_KEY', '--allowed-hosts', 'host.docker.internal'],
      {
        env: {MY_KEY: 'sesame-open', SVC_LOG: 'info'},
      },
    )
  })
  after(() => server.stop())

  it('shows the model name only to clients with the key', async () => {
    const health = async (headers = {}) => (await fetch(`${server.baseUrl}/health`, {headers})).json()
    assert.deepEqual(await health(), {status: 'ok', loaded: true})
    const {model: name} = (await health(key)) as {model: string}
    assert.notEqual(name, '')
  })

  it('accepts the host names of --allowed-hosts', async () => {
    const status = async (host: string) => (await httpRequest(`${server.baseUrl}/health`, {headers: {host}})).statusCode
    assert.equal(await status('host.docker.internal'), 200)
    assert.equal(await status('evil.example'), 403)
  })

  it('reports a port that is in use', async () => {
    const {port} = new URL(server.baseUrl)
    const {stderr, exitCode} = await svcInTurn(['serve', '--model', model, '--port', port])
    assert.match(
      stderr,
      new RegExp(`already listening on 127\\.0\\.0\\.1:${port}.*port_in_use.*\\n.*--port ${Number(port) + 1}`),
    )
    assert.equal(exitCode, 5)
  })

  it('requires its key', async () => {
    const status = async (headers: Record<string, string>) =>
      (await fetch(`${server.baseUrl}/v1/models`, {headers})).status
    assert.equal(await status({}), 401)
    assert.equal(await status({authorization: 'Bearer sesame-close'}), 401)
    assert.equal(await status(key), 200)
    assert.equal(await status({'x-api-key': 'sesame-open'}), 200)
    assert.equal(await status({'x-api-key': 'sesame-open', authorization: 'Bearer none'}), 200)
    assert.equal(await status({'x-api-key': 'sesame-close'}), 401)
    assert.equal((await fetch(`${server.baseUrl}/health`)).status, 200)
    assert.equal((await fetch(`${server.baseUrl}/metrics`)).status, 401)
  })

  it('finishes a running stream, exits with status 0, and never prints its key', async () => {
    const body = {prompt: 'Hi', raw: true, options: {num_predict: 300, temperature: 1}}
    const response = await post(server, '/api/generate', body, key)
    const reader = response.body?.getReader()
    await reader?.read()
    const stopped = server.stop()
    let last = ''
    for (;;) {
      const {done, value} = (await reader?.read()) ?? {done: true}
      if (done) break
      last = Buffer.from(value as Uint8Array).toString()
    }
    assert.match(last, /"done":true/)
    assert.equal(await stopped, 0)
    assert.match(server.stderr(), /\/v1\/models/)
    assert.doesNotMatch(server.stderr(), /sesame-open/)
  })

  it('refuses other machines without an API key, and warns with --insecure', async () => {
    const args = ['--model', model, '--host', '0.0.0.0']
    const {exitCode, stderr} = await svcInTurn(['serve', ...args, '--port', '0'])
    assert.equal(exitCode, 2)
    assert.match(
      stderr,
      /requires an API key in SVC_INFERENCE_API_KEY\. \(serve_unprotected\)\n {2}hint: .* --insecure/,
    )
    const withKey = await startServer(args, {env: {SVC_INFERENCE_API_KEY: 'sesame-open'}})
    assert.doesNotMatch(withKey.stderr(), /without an API key/)
    await withKey.stop()
    const server = await startServer([...args, '--insecure'])
    assert.match(server.stderr(), /Other machines can use this server without an API key\. Set SVC_INFERENCE_API_KEY/)
    await server.stop()
  })
})
