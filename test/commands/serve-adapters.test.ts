import assert from 'node:assert/strict'
import {cp, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {after, before, describe, it} from 'node:test'
import {Ollama} from 'ollama'
import OpenAI from 'openai'
import {type RunningServer, startServer} from '../support/server.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {type TinyAdapter, tinyAdapterFiles, writeTinyModel} from '../support/tiny-model.js'
import {storm} from './adapter-storm.js'

const model = {hiddenSize: 64, layout: 'single', contextLength: 2048} as const
const adminKey = 'an-admin-key-for-tests'

/** The adapters below `--adapters` when the server starts. */
const initial: Record<string, Partial<TinyAdapter>> = {
  legal: {seed: 41},
  medical: {seed: 42, form: 'peft', rank: 16, alpha: 32},
  poetry: {seed: 43, rank: 3, head: false},
}

describe('svc serve --adapters', () => {
  const folder = suiteFolder()
  const base = join(folder, 'base')
  const adapters = join(folder, 'adapters')
  let server: RunningServer
  let ollama: Ollama
  let openai: OpenAI

  before(async () => {
    await writeTinyModel(base, model)
    for (const [name, changes] of Object.entries(initial))
      await writeFiles(join(adapters, name), tinyAdapterFiles(model, changes))
    await writeFiles(join(adapters, 'large'), tinyAdapterFiles({...model, hiddenSize: 96}, {}))
    await writeFiles(join(adapters, 'notes'), {'README.md': 'Not an adapter.'})
    await writeFiles(join(folder, 'house'), tinyAdapterFiles(model, {seed: 44, rank: 8}))
    await writeFiles(join(folder, 'elsewhere'), tinyAdapterFiles(model, {seed: 45}))
    server = await startServer(
      [
        '--model',
        base,
        '--adapter',
        `house=${join(folder, 'house')}`,
        '--adapters',
        adapters,
        '--chat-template',
        'none',
      ],
      {cwd: folder, env: {HOME: folder, SVC_PRECISION: 'f32', SVC_ADMIN_KEY: adminKey}},
    )
    ollama = new Ollama({host: server.baseUrl})
    openai = new OpenAI({baseURL: `${server.baseUrl}/v1`, apiKey: 'none', maxRetries: 0})
  })
  after(() => server?.stop())

  const reply = async (name: string, tokens = 12) => {
    const {choices} = await openai.chat.completions.create({
      model: name,
      messages: [{role: 'user', content: 'Once upon a time'}],
      max_completion_tokens: tokens,
      temperature: 0,
    })
    return choices[0]?.message.content ?? ''
  }
  const ask = async (method: string, path: string, body?: object, key: string | undefined = adminKey) => {
    const response = await fetch(`${server.baseUrl}${path}`, {
      method,
      headers: key === undefined ? {} : {authorization: `Bearer ${key}`},
      ...(body === undefined ? {} : {body: JSON.stringify(body)}),
    })
    return {status: response.status, body: (await response.json()) as {error?: string} & Record<string, unknown>}
  }
  const add = (name: string, path?: string, key?: string) => ask('POST', '/api/adapters', {name, path}, key)
  const remove = (name: string, key?: string) => ask('DELETE', `/api/adapters/${name}`, undefined, key)

  it('lists the base model and each adapter as models', async () => {
    const names = ['base', 'house', 'legal', 'medical', 'poetry']
    assert.deepEqual(
      (await ollama.list()).models.map(({name}) => name),
      names,
    )
    const ids: string[] = []
    for await (const {id} of openai.models.list()) ids.push(id)
    assert.deepEqual(ids, names)
    const {details, modelfile} = await ollama.show({model: 'legal'})
    assert.equal(details.parent_model, 'base')
    assert.match(modelfile, /^FROM base\nADAPTER legal$/m)
    assert.match(server.stderr(), /notes[\s\S]*large/, 'those that cannot be served are logged')
  })

  it('answers concurrent requests for several adapters as it answers each alone', async () => {
    const names = ['legal', 'base', 'medical', 'house', 'legal', 'poetry', 'base', 'medical:latest']
    const alone = new Map<string, string>()
    for (const name of names) alone.set(name, await reply(name))
    assert.equal(new Set(alone.values()).size, 5, 'each adapter has a reply of its own')
    assert.equal(alone.get('medical'), alone.get('medical:latest'))
    assert.deepEqual(
      await Promise.all(names.map((name) => reply(name))),
      names.map((name) => alone.get(name)),
    )
  })

  it('states the adapter in receipts, which verify a reply by running it again', async () => {
    const exchange = async (name: string) => {
      const request = {model: name, prompt: 'Once', max_tokens: 8, temperature: 1, seed: 7}
      const response = await fetch(`${server.baseUrl}/v1/completions`, {
        method: 'POST',
        body: JSON.stringify(request),
      })
      return {receipt: response.headers.get('x-svc-receipt'), request, reply: await response.json()}
    }
    const [legal, alone, medical] = await Promise.all(['legal', 'base', 'medical'].map(exchange))
    assert.equal(new Set([legal?.receipt, alone?.receipt, medical?.receipt]).size, 3)
    assert.match(alone?.receipt ?? '', /adapter=none/)
    const named = ['legal', 'medical'].flatMap((name) => ['--adapter', `${name}=${join(adapters, name)}`])
    const verify = async (input: unknown, ...flags: string[]) => {
      const place = ['--model', base, '--chat-template', 'none', '--precision', 'f32', '--json']
      const {stdout} = await svcInTurn(['verify-receipt', '-', ...place, ...flags], {input: JSON.stringify(input)})
      return JSON.parse(stdout).result
    }
    for (const one of [legal, alone, medical]) assert.equal(await verify(one, ...named), 'verified')
    assert.equal(await verify(legal, ...named.slice(2)), 'parts_differ')
  })

  it('shows the adapters in memory, of which svc stop frees one', async () => {
    await reply('legal')
    const loaded = async () => (await ollama.ps()).models.map(({name}) => name)
    assert.ok((await loaded()).includes('legal'))
    await ollama.generate({model: 'legal', prompt: '', keep_alive: 0})
    assert.ok(!(await loaded()).includes('legal'))
    assert.ok((await loaded()).includes('house'))
    const {adapters: listed} = (await ask('GET', '/api/adapters')).body as {adapters: {name: string; loaded: boolean}[]}
    assert.deepEqual(
      listed.filter(({name}) => ['house', 'legal'].includes(name)).map(({name, loaded: isLoaded}) => [name, isLoaded]),
      [
        ['house', true],
        ['legal', false],
      ],
    )
  })

  it('adds, replaces and removes an adapter, and a running stream keeps its own', async () => {
    await writeFiles(join(adapters, 'late'), tinyAdapterFiles(model, {seed: 46}))
    assert.equal((await add('late')).status, 201)
    const before = await reply('late', 400)
    const stream = await openai.chat.completions.create({
      model: 'late',
      messages: [{role: 'user', content: 'Once upon a time'}],
      max_completion_tokens: 400,
      temperature: 0,
      stream: true,
    })
    let text = ''
    let isReplaced = false
    for await (const {choices} of stream) {
      text += choices[0]?.delta.content ?? ''
      if (isReplaced || text === '') continue
      isReplaced = true
      assert.equal((await add('late', 'poetry')).status, 200)
    }
    assert.equal(text, before)
    assert.equal(await reply('late'), await reply('poetry'))
    assert.equal((await remove('late')).status, 200)
    await assert.rejects(reply('late'), {status: 404, code: 'model_not_found'})
  })

  it('serves the files of an adapter as they are when a request arrives', async () => {
    await writeFiles(join(adapters, 'changing'), tinyAdapterFiles(model, {seed: 47}))
    await add('changing')
    const before = await reply('changing')
    await writeFiles(join(adapters, 'changing'), tinyAdapterFiles(model, {seed: 48}))
    const after = await reply('changing')
    assert.notEqual(after, before)
    const {'candle_qlora_adapter.safetensors': _, ...manifest} = tinyAdapterFiles(model, {seed: 48, alpha: 200})
    await writeFiles(join(adapters, 'changing'), manifest)
    assert.notEqual(await reply('changing'), after, 'a new manifest with the same weights is another adapter')
    await writeFiles(join(adapters, 'changing'), {'candle_qlora_adapter.safetensors': 'broken'})
    await assert.rejects(reply('changing'), {status: 400, message: /adapter changing cannot be served/})
    await remove('changing')
  })

  it('refuses what is not below the directory of adapters, also through a link', async () => {
    await symlink(join(folder, 'elsewhere'), join(adapters, 'link'))
    await cp(join(adapters, 'legal'), join(adapters, 'nested', 'legal'), {recursive: true})
    for (const path of ['../elsewhere', join(folder, 'elsewhere'), 'link', '.', 'missing']) {
      const {status, body} = await add('other', path)
      assert.deepEqual([status, /not a directory below/.test(body.error ?? '')], [403, true], path)
    }
    assert.equal((await add('other', 'nested/legal')).status, 201)
    assert.equal(await reply('other'), await reply('legal'))
    await remove('other')
  })

  it('answers with a clear error for each adapter that cannot be served', async () => {
    const refusals: [string, string, number, RegExp][] = [
      ['big', 'large', 400, /does not fit the base tensor/],
      ['notes', 'notes', 400, /no adapter weights/],
      ['base', 'legal', 409, /that of the base model/],
      ['house', 'legal', 409, /started with it/],
      ['a b', 'legal', 400, /not a name/],
    ]
    for (const [name, path, status, message] of refusals) {
      const answer = await add(name, path)
      assert.equal(answer.status, status, name)
      assert.match(answer.body.error ?? '', message)
    }
    assert.equal((await remove('unknown')).status, 404)
    assert.equal((await remove('house')).status, 409)
  })

  it('has right receipts and replies while adapters are added, replaced and removed', async () => {
    const folders = Array.from({length: 6}, (_, i) => join('store', `v${i}`))
    for (const [i, place] of folders.entries())
      await writeFiles(join(adapters, place), tinyAdapterFiles(model, {seed: 70 + i, rank: 4 + i}))
    const replies = await storm({baseUrl: server.baseUrl, adminKey, folders, requests: 60, seed: 1})
    assert.ok(replies.length >= 20, `only ${replies.length} requests found an adapter`)
  })

  it('requires the admin key for changes', async () => {
    for (const key of ['wrong', ''])
      for (const answer of [await add('other', 'legal', key), await remove('legal', key)])
        assert.equal(answer.status, 401)
    assert.ok(!server.stderr().includes(adminKey))
  })
})

describe('svc serve with little memory for adapters', () => {
  const folder = suiteFolder()
  const base = join(folder, 'base')
  const names = Array.from({length: 6}, (_, i) => `a${i}`)

  it('keeps the most recent ones, and answers with all', async (t) => {
    await writeTinyModel(base, model)
    // Each needs 0.48 MB.
    for (const [seed, name] of names.entries())
      await writeFiles(join(folder, 'adapters', name), tinyAdapterFiles(model, {rank: 48, seed, head: false}))
    const server = await startServer(
      ['--model', base, '--adapters', join(folder, 'adapters'), '--adapter-memory', '1', '--chat-template', 'none'],
      {cwd: folder, env: {HOME: folder, SVC_PRECISION: 'f32'}},
    )
    t.after(() => server.stop())
    const ollama = new Ollama({host: server.baseUrl})
    const reply = async (name: string) =>
      (await ollama.generate({model: name, prompt: 'Hi', options: {temperature: 0, num_predict: 6}})).response ?? ''
    const alone: string[] = []
    for (const name of names) alone.push(await reply(name))
    assert.deepEqual(
      (await ollama.ps()).models.map(({name}) => name),
      ['base', 'a4', 'a5'],
    )
    assert.deepEqual(await Promise.all(names.map(reply)), alone)
    const refused = await fetch(`${server.baseUrl}/api/adapters/a1`, {method: 'DELETE'})
    assert.equal(refused.status, 403)
  })
})
