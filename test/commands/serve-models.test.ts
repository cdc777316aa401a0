import assert from 'node:assert/strict'
import {rename, rm, writeFile} from 'node:fs/promises'
import {request} from 'node:http'
import {join} from 'node:path'
import {after, before, describe, it} from 'node:test'
import {Ollama} from 'ollama'
import OpenAI from 'openai'
import {contractViolations} from '../../src/contracts/index.js'
import {ggufOf} from '../support/gguf-model.js'
import {type HubModel, startHub} from '../support/hub-server.js'
import {type RunningServer, startServer} from '../support/server.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {tinyAdapterFiles, tinyModelFiles, writeTinyModel} from '../support/tiny-model.js'
import {until} from '../support/until.js'

const greedy = {temperature: 0, num_predict: 4}

/** Loaded memory that fits two of the small models, MB: each needs about 0.8. */
const limit = '2'

describe('svc serve --models', () => {
  const folder = suiteFolder()
  const models = join(folder, 'runs')
  const env = {HOME: folder, HF_HOME: join(folder, 'hf'), SVC_PRECISION: 'f32'}
  const llama: HubModel = {
    commit: 'a'.repeat(40),
    revisions: ['main'],
    files: {...tinyModelFiles({layout: 'single', seed: 7}), LICENSE: 'MIT License\n'},
    large: ['model.safetensors'],
  }
  const closers: (() => void)[] = []
  let server: RunningServer
  let ollama: Ollama

  before(async () => {
    const hub = await startHub({after: (close) => closers.push(close)}, {'acme/llama': llama})
    for (const [i, name] of ['one', 'two', 'three'].entries()) await writeTinyModel(join(models, name), {seed: i + 1})
    await writeTinyModel(join(models, 'large'), {hiddenSize: 480, intermediateSize: 800, heads: 30, kvHeads: 30})
    await writeFiles(join(models, 'broken'), {...tinyModelFiles(), 'tokenizer.json': '{"model": 5}'})
    await writeFiles(join(models, 'variant'), {
      'svc.model.toml': 'from = "../one"\nsystem = "Be brief."\nstop = ["END"]\n[parameters]\ntop_p = 0.8\nseed = 3\n',
    })
    await writeFile(join(models, 'packed.gguf'), await ggufOf(join(models, 'one'), {type: 'F32'}))
    await writeFiles(join(models, 'notes'), {'README.md': 'Not a model.'})
    const flags = ['--models', `${models},pulled`, '--manage-models', '--memory-limit', limit, '--prefix-cache', '0']
    server = await startServer([...flags, '--chat-template', 'none'], {
      cwd: folder,
      env: {...env, HF_ENDPOINT: hub.endpoint},
    })
    ollama = new Ollama({host: server.baseUrl})
  })
  after(async () => {
    await server?.stop()
    for (const close of closers) close()
  })

  const reply = async (model: string, options: object = greedy) =>
    (await ollama.generate({model, prompt: 'Hi', raw: true, options})).response
  /** Sends a request and leaves without the reply. */
  const leave = (model: string) =>
    new Promise<unknown>((resolve) => {
      const sent = request(`${server.baseUrl}/api/generate`, {method: 'POST'})
      sent.on('error', () => undefined).on('close', resolve)
      sent.end(JSON.stringify({model, prompt: 'Hi', raw: true, options: greedy}), () => sent.destroy())
    })
  const loaded = async () => (await ollama.ps()).models.map(({name}) => name).sort()
  const metric = async (name: string) => {
    const text = await (await fetch(`${server.baseUrl}/metrics`)).text()
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
  }

  it('lists every model of the directory, none of which is loaded', async () => {
    const names = (await ollama.list()).models.map(({name}) => name)
    assert.deepEqual(names, ['large', 'one', 'packed', 'three', 'two', 'variant'])
    assert.match(server.stderr(), /broken/)
    assert.deepEqual(await loaded(), [])
    const openai = new OpenAI({baseURL: `${server.baseUrl}/v1`, apiKey: 'none', maxRetries: 0})
    const ids: string[] = []
    for await (const {id} of openai.models.list()) ids.push(id)
    assert.deepEqual(ids, names)
    assert.equal((await openai.models.retrieve('two')).id, 'two')
  })

  it('answers with the model that a request names', async () => {
    const replies = [await reply('one'), await reply('two'), await reply('one:latest')]
    assert.equal(replies[0], replies[2])
    assert.notEqual(replies[0], replies[1])
    assert.deepEqual(await loaded(), ['one', 'two'])
  })

  it('serves a GGUF file under its name, again after it has changed', async () => {
    const file = join(models, 'packed.gguf')
    const first = await reply('packed')
    assert.notEqual(first, '')
    await writeFile(`${file}.new`, await ggufOf(join(models, 'two'), {type: 'F32'}))
    await rename(`${file}.new`, file)
    assert.notEqual(await reply('packed'), first)
  })

  it('unloads the least recently used model if the memory does not suffice', async () => {
    await reply('two')
    await reply('one')
    await reply('three')
    assert.deepEqual(await loaded(), ['one', 'three'])
    assert.ok((await metric('svc_model_memory_bytes')) <= Number(limit) * 1e6)
  })

  it('refuses a model that does not fit, with the sizes', async () => {
    await assert.rejects(reply('large'), /'large' needs about \d+\.\d MB, and this server has 2\.0 MB for models/)
    assert.deepEqual(await loaded(), ['one', 'three'])
  })

  it('waits for a running reply before it unloads the model', async () => {
    const long = {temperature: 0, num_predict: 300}
    const alone = await reply('one', long)
    await reply('three')
    const streams = await Promise.all(
      ['one', 'three'].map((model) => ollama.generate({model, prompt: 'Hi', raw: true, stream: true, options: long})),
    )
    const texts = streams.map(async (stream) => {
      let text = ''
      for await (const part of stream) text += part.response
      return text
    })
    assert.notEqual(await reply('two'), '')
    assert.equal((await Promise.all(texts))[0], alone)
  })

  it('loads a model once for concurrent requests, and tells all of them why it cannot', async () => {
    const stop = (model: string) => ollama.generate({model, prompt: '', keep_alive: 0})
    for (const name of await loaded()) await stop(name)
    const replies = await Promise.all(Array.from({length: 4}, () => reply('one')))
    assert.equal(new Set(replies).size, 1)
    assert.deepEqual(await loaded(), ['one'])
    const refusals = await Promise.allSettled(Array.from({length: 3}, () => reply('broken')))
    const reasons = refusals.map((result) => (result.status === 'rejected' ? String(result.reason) : ''))
    assert.match(reasons[0] ?? '', /tokenizer\.json/)
    assert.equal(new Set(reasons).size, 1)
  })

  it('serves others when clients leave while their model is loaded or waits for memory', async () => {
    const expected = {two: await reply('two'), three: await reply('three')}
    for (const name of await loaded()) await ollama.generate({model: name, prompt: '', keep_alive: 0})
    await Promise.all([leave('two'), leave('two')])
    assert.equal(await reply('two'), expected.two)
    await leave('three')
    // Nothing of the load is still in use: both other models replace it.
    assert.deepEqual([await reply('one'), await reply('two')].length, 2)
    assert.deepEqual(await loaded(), ['one', 'two'])
    const long = {temperature: 0, num_predict: 300}
    const streams = await Promise.all(
      ['one', 'two'].map((model) => ollama.generate({model, prompt: 'Hi', raw: true, stream: true, options: long})),
    )
    await leave('three')
    for (const stream of streams) for await (const {done, eval_count: count} of stream) assert.ok(!done || count > 0)
    assert.equal(await reply('three'), expected.three)
    assert.ok((await metric('svc_model_memory_bytes')) <= Number(limit) * 1e6)
  })

  it('serves a directory that is added, and refuses one that is removed', async () => {
    await assert.rejects(reply('four'), /model 'four' not found/)
    await writeTinyModel(join(folder, 'new'), {seed: 9})
    await rename(join(folder, 'new'), join(models, 'four'))
    assert.notEqual(await reply('four'), '')
    await rm(join(models, 'four'), {recursive: true})
    await assert.rejects(reply('four'), /model 'four' was deleted: .*four does not exist any more/)
    await until(async () => !(await loaded()).includes('four'), 'the removed model is unloaded')
    assert.ok(!(await ollama.list()).models.some(({name}) => name === 'four'))
  })

  it('requires a model in a request, as there are several', async () => {
    const response = await fetch(`${server.baseUrl}/api/generate`, {method: 'POST', body: '{"prompt": "Hi"}'})
    const {error} = (await response.json()) as {error: string}
    assert.deepEqual(
      [response.status, error.startsWith('model is required; this server serves broken, large')],
      [400, true],
    )
  })

  it('gives a variant of a model its own defaults', async () => {
    const {system, parameters} = await ollama.show({model: 'variant'})
    assert.equal(system, 'Be brief.')
    assert.match(parameters, /^top_p +0\.8\nseed +3\nstop +"END"$/m)
    const sampled = () => reply('variant', {num_predict: 12, temperature: 2})
    assert.equal(await sampled(), await sampled())
    assert.equal(await reply('variant'), await reply('one'))
  })

  describe('svc ps and svc stop', () => {
    const run = (...args: string[]) => svcInTurn([...args, '--server', server.baseUrl], {cwd: folder, env})

    it('list the loaded models, and unload one', async () => {
      await reply('one')
      const {stdout, exitCode} = await run('ps', '--json')
      const listed = JSON.parse(stdout)
      assert.deepEqual([exitCode, await contractViolations('cli/ps.v1', listed)], [0, []])
      assert.ok(listed.models.some(({name}: {name: string}) => name === 'one'))
      assert.match((await run('ps')).stdout, /^NAME +MEMORY +CONTEXT +UNLOADS\n(.*\n)*one +\d\.\d MB +1024 +never\n/)
      assert.equal((await run('stop', 'one')).stdout, 'Unloaded one.\n')
      const again = JSON.parse((await run('stop', 'one', '--json')).stdout)
      assert.deepEqual(await contractViolations('cli/stop.v1', again), [])
      assert.equal(again.state, 'not_loaded')
      assert.ok(!(await loaded()).includes('one'))
    })

    it('refuse a model that is not served, and a server that does not run', async () => {
      const unknown = await run('stop', 'tow')
      assert.deepEqual([unknown.exitCode, /'tow' not found, did you mean 'two'\?/.test(unknown.stderr)], [3, true])
      const {exitCode} = await svcInTurn(['ps', '--server', 'http://127.0.0.1:9'], {cwd: folder, env})
      assert.equal(exitCode, 5)
    })
  })

  it('downloads and deletes a model for the official Ollama client', async () => {
    const progress: {status: string; digest?: string; completed?: number; total?: number}[] = []
    for await (const part of await ollama.pull({model: 'acme/llama', stream: true})) progress.push(part)
    const weights = progress.filter(({status}) => status === 'pulling model.safetensors')
    assert.match(weights[0]?.digest ?? '', /^sha256:[0-9a-f]{64}$/)
    assert.equal(weights.at(-1)?.completed, weights.at(-1)?.total)
    assert.deepEqual([progress[0]?.status, progress.at(-1)?.status], ['pulling manifest', 'success'])
    assert.equal((await ollama.show({model: 'acme/llama'})).license, 'MIT License\n')
    assert.notEqual(await reply('acme/llama'), '')
    const {exitCode, stderr} = await svcInTurn(['rm', 'acme/llama', '--yes'], {cwd: folder, env})
    assert.deepEqual([exitCode, stderr.includes(`in use by process ${server.pid}`)], [4, true], stderr)
    assert.deepEqual(await ollama.delete({model: 'acme/llama'}), {status: 'success'})
    await assert.rejects(reply('acme/llama'), /was deleted/)
    await assert.rejects(ollama.delete({model: 'two'}), /two was not downloaded by svc/)
    await assert.rejects(ollama.pull({model: 'acme/none', stream: false}), /acme\/none/)
  })

  it('lets svc rm delete a downloaded model that it has unloaded', async () => {
    await ollama.pull({model: 'acme/llama'})
    await reply('acme/llama')
    await ollama.generate({model: 'acme/llama', prompt: '', keep_alive: 0})
    const {exitCode, stderr} = await svcInTurn(['rm', 'acme/llama', '--yes'], {cwd: folder, env})
    assert.equal(exitCode, 0, stderr)
    await assert.rejects(reply('acme/llama'), /model 'acme\/llama' was deleted/)
    await ollama.pull({model: 'acme/llama'})
    assert.notEqual(await reply('acme/llama'), '')
  })

  for (const [what, args, reason] of [
    ['a name for several models', ['--models', '.', '--model-name', 'x'], /--model-name names only one model/],
    ['a directory that does not exist', ['--models', 'nowhere'], /nowhere/],
    ['to manage models that are not served', ['--models', '.', '--manage-models'], /requires --models pulled/],
  ] as const)
    it(`refuses ${what}`, async () => {
      const {exitCode, stderr} = await svcInTurn(['serve', '--port', '0', ...args], {cwd: folder, env})
      assert.notEqual(exitCode, 0)
      assert.match(stderr, reason)
    })

  it('refuses to download, to delete and to change models unless it may', async () => {
    const other = await startServer(['--model', join(models, 'one')], {cwd: folder, env})
    try {
      const client = new Ollama({host: other.baseUrl})
      await assert.rejects(client.pull({model: 'acme/llama'}), {status_code: 403})
      await assert.rejects(client.delete({model: 'one'}), /was not started to download and delete models/)
      await assert.rejects(client.copy({source: 'one', destination: 'two'}), {status_code: 501})
    } finally {
      await other.stop()
    }
  })
})

describe('svc model import', () => {
  const folder = suiteFolder()
  const env = {HOME: folder, HF_HOME: join(folder, 'hf'), SVC_THREADS: '1'}
  const run = (...args: string[]) => svcInTurn(args, {cwd: folder, env})
  before(async () => {
    await writeTinyModel(join(folder, 'base'))
    await writeFiles(join(folder, 'adapter'), tinyAdapterFiles({}, {form: 'peft'}))
  })

  it('writes the defaults of a Modelfile, which other commands use', async () => {
    const modelfile = `# A pirate.
FROM ./base
ADAPTER ./adapter/adapter_model.safetensors
PARAMETER temperature 0
PARAMETER num_predict 3
PARAMETER num_gpu 1
parameter stop "<|end|>"
SYSTEM """You are
a pirate."""
MESSAGE user Who are you?
MESSAGE assistant """Arr."""
LICENSE MIT
`
    await writeFile(join(folder, 'Modelfile'), modelfile)
    const {stdout, stderr, exitCode} = await run('model', 'import', 'Modelfile', '--output', 'models/pirate', '--json')
    assert.equal(exitCode, 0, stderr)
    const result = JSON.parse(stdout)
    assert.deepEqual([await contractViolations('cli/model-import.v1', result), result.ignored], [[], ['num_gpu']])
    const shown = JSON.parse((await run('show', './models/pirate', '--json')).stdout)
    assert.deepEqual(await contractViolations('cli/show.v1', shown), [])
    assert.deepEqual(
      [shown.adapter, shown.defaults],
      [
        true,
        {
          system: 'You are\na pirate.',
          stop: ['<|end|>'],
          messages: 2,
          parameters: {temperature: 0, num_predict: 3},
        },
      ],
    )
    const generate = async (...args: string[]) =>
      JSON.parse((await run('generate', '--model', './models/pirate', '--json', ...args, 'Hi')).stdout)
    const [first, second, longer] = [
      await generate(),
      await generate('--no-adapter'),
      await generate('--max-tokens', '5', '--set', 'temperature=0'),
    ]
    assert.deepEqual([first.completion_tokens, longer.completion_tokens], [3, 5])
    assert.notEqual(first.text, second.text)
    assert.ok(longer.text.startsWith(first.text))
    assert.ok(first.prompt_tokens > 'You are\na pirate.Who are you?Arr.Hi'.length)
    const listed = JSON.parse((await run('list', '--json')).stdout)
    assert.deepEqual(
      listed.models.map(({name}: {name: string}) => name),
      ['./models/pirate'],
    )
    assert.equal((await run('model', 'import', 'Modelfile', '--output', 'models/pirate')).exitCode, 4)
  })

  it('gives a GGUF file in the same directory other defaults', async () => {
    const packed = join(folder, 'packed')
    const source = 'FROM ./a-f32.gguf\nPARAMETER num_predict 3\nPARAMETER temperature 0\n'
    await writeFiles(packed, {'a-f32.gguf': await ggufOf(join(folder, 'base'), {type: 'F32'}), Modelfile: source})
    const {stderr, exitCode} = await run('model', 'import', 'packed/Modelfile')
    assert.equal(exitCode, 0, stderr)
    const generate = async (model: string, ...args: string[]) =>
      JSON.parse((await run('generate', '--model', model, '--json', '--raw', ...args, 'Hi')).stdout)
    const [variant, file] = [
      await generate('./packed'),
      await generate('./packed/a-f32.gguf', '--max-tokens', '4', '--set', 'temperature=0'),
    ]
    assert.deepEqual([variant.model, variant.completion_tokens], ['packed', 3])
    assert.deepEqual([file.model, file.completion_tokens], ['a-f32', 4])
    assert.ok(file.text.startsWith(variant.text))
  })

  const refused = {
    'a template in the syntax of Go': [
      'FROM ./base\nTEMPLATE """{{ .Prompt }}"""',
      /Line 2 of .* TEMPLATE has the syntax of Go/,
    ],
    'an adapter that is not of PEFT': [
      'FROM ./base\nADAPTER ./base',
      /ADAPTER must name the directory of an adapter of PEFT/,
    ],
    'a parameter out of range': [
      'FROM ./base\nPARAMETER top_p 7',
      /PARAMETER top_p must be a number from 0 to 1, not 7/,
    ],
    'an unknown parameter': ['FROM ./base\nPARAMETER tempersture 1', /did you mean temperature\?/],
    'an unknown instruction': ['FORM ./base', /the instruction FORM is unknown; did you mean FROM\?/],
    'quotes that are not closed': ['FROM ./base\nSYSTEM """x', /Line 2 of .*the quotes of SYSTEM are not closed/],
    'no model': ['SYSTEM x', /FROM is missing/],
    'a model that is not here': ['FROM llama3', /Model llama3 not found/],
  } as const
  for (const [what, [modelfile, reason]] of Object.entries(refused))
    it(`refuses ${what}, and writes nothing`, async () => {
      await writeFile(join(folder, 'Bad'), `${modelfile}\n`)
      const {exitCode, stderr} = await run('model', 'import', 'Bad', '--output', 'bad')
      assert.notEqual(exitCode, 0)
      assert.match(stderr, reason)
      await assert.rejects(rm(join(folder, 'bad')))
    })
})
