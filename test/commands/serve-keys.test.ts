import assert from 'node:assert/strict'
import {chmod, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {after, before, describe, it} from 'node:test'
import {type RunningServer, startServer} from '../support/server.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

const keys = {alice: 'alice-has-a-secret-key', bob: 'bob-has-another-secret', carol: 'carol-has-a-third-one'}
const file = `
[keys.alice]
key = "${keys.alice}"
weight = 2
requests_per_minute = 3

[keys.bob]
key = "${keys.bob}"
tokens_per_minute = 1000000

[keys.carol]
key = "${keys.carol}"
tokens_per_minute = 10
`

describe('svc serve --api-keys', () => {
  const folder = suiteFolder()
  let server: RunningServer

  before(async () => {
    await writeTinyModel(join(folder, 'tiny'))
    await writeFile(join(folder, 'keys.toml'), file, {mode: 0o600})
    server = await startServer(['--model', 'tiny', '--parallel', '1', '--api-keys', 'keys.toml'], {
      cwd: folder,
      env: {SVC_INFERENCE_API_KEY: 'the-key-of-the-environment', SVC_LOG: 'info'},
    })
  })
  after(() => server?.stop())

  const send = (path: string, headers: Record<string, string>, body: object, signal?: AbortSignal) =>
    fetch(server.baseUrl + path, {
      method: 'POST',
      headers: {'content-type': 'application/json', ...headers},
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : {signal}),
    })
  const bearer = (key: string) => ({authorization: `Bearer ${key}`})
  const limitsOf = ({headers}: Response) =>
    Object.fromEntries([...headers].filter(([name]) => name.startsWith('x-ratelimit-')))
  const completion = (max_tokens = 2) => ({prompt: 'Once', max_tokens})

  it('accepts the keys of the file and that of the environment, and no other', async () => {
    for (const key of [keys.bob, 'the-key-of-the-environment'])
      assert.equal((await send('/v1/completions', bearer(key), completion())).status, 200)
    assert.equal((await send('/v1/completions', {'x-api-key': keys.bob}, completion())).status, 200)
    for (const headers of [{}, bearer('alice'), bearer(`${keys.bob}x`)])
      assert.equal((await send('/v1/completions', headers, completion())).status, 401)
  })

  it('answers 429 in the form of each dialect when the requests of a minute are used up', async () => {
    const first = await send('/v1/completions', bearer(keys.alice), completion())
    const {'x-ratelimit-reset-requests': reset, ...limits} = limitsOf(first)
    assert.deepEqual(limits, {'x-ratelimit-limit-requests': '3', 'x-ratelimit-remaining-requests': '2'})
    assert.match(reset ?? '', /^\d+s$/)
    for (let i = 0; i < 2; i++) await send('/v1/completions', bearer(keys.alice), completion())
    const openai = await send('/v1/completions', bearer(keys.alice), completion())
    const ollama = await send('/api/generate', bearer(keys.alice), {prompt: 'Once', stream: false})
    for (const refused of [openai, ollama]) {
      assert.equal(refused.status, 429)
      const seconds = Number(refused.headers.get('retry-after'))
      assert.ok(seconds >= 1 && seconds <= 20, String(seconds))
      assert.equal(limitsOf(refused)['x-ratelimit-remaining-requests'], '0')
    }
    const message = 'More than 3 requests arrived within a minute.'
    const error = {message, type: 'invalid_request_error', param: null, code: 'rate_limit_exceeded'}
    assert.deepEqual(await openai.json(), {error})
    assert.deepEqual(await ollama.json(), {error: message})
  })

  it('charges the tokens of replies, also of streams, and refuses requests after the budget is used up', async () => {
    const streamed = await send('/v1/completions', bearer(keys.carol), {...completion(30), stream: true})
    assert.equal(streamed.status, 200)
    assert.equal(limitsOf(streamed)['x-ratelimit-remaining-tokens'], '10')
    await streamed.text()
    const refused = await send('/v1/completions', bearer(keys.carol), completion())
    assert.equal(refused.status, 429)
    const {error} = (await refused.json()) as {error: {message: string; code: string}}
    assert.equal(error.code, 'rate_limit_exceeded')
    assert.match(error.message, /The budget of this API key, 10 tokens per minute, is used up\./)
    assert.equal((await send('/v1/completions', bearer(keys.bob), completion())).status, 200)
    const metrics = await (await fetch(`${server.baseUrl}/metrics`, {headers: bearer(keys.bob)})).text()
    assert.match(metrics, /^svc_client_tokens_total\{client="carol"\} 3\d$/m)
  })

  it('lets no client starve others', async () => {
    const flood = new AbortController()
    const ended: string[] = []
    const ask = async (name: string, key: string) => {
      const {status} = await send('/v1/completions', bearer(key), completion(60), flood.signal)
      ended.push(name)
      return status
    }
    const many = Array.from({length: 20}, () => ask('many', keys.bob).catch(() => 0))
    assert.equal(await ask('few', 'the-key-of-the-environment'), 200)
    assert.ok(ended.length <= 6, ended.join())
    flood.abort()
    await Promise.all(many)
  })

  it('logs names, never keys', () => {
    const log = server.stderr()
    assert.match(log, /alice/)
    for (const key of [...Object.values(keys), 'the-key-of-the-environment']) assert.ok(!log.includes(key))
  })

  const refused: [string, string, RegExp][] = [
    ['short keys', '[keys.a]\nkey = "short"\n', /the key of a is not a text of at least 16/],
    ['unknown fields', `[keys.a]\nkey = "${keys.bob}"\nrate = 1\n`, /a has the unknown field rate/],
    [
      'repeated keys',
      `[keys.a]\nkey = "${keys.bob}"\n[keys.b]\nkey = "${keys.bob}"\n`,
      /b has the same key as another name/,
    ],
    ['a weight of 0', `[keys.a]\nkey = "${keys.bob}"\nweight = 0\n`, /weight of a is not an integer from 1 to 1000/],
    ['what is not TOML', `key ${keys.bob}`, /it is not TOML/],
    ['a file without keys', '', /it has no table \[keys\.NAME\]/],
  ]
  for (const [what, text, message] of refused)
    it(`refuses ${what}`, async () => {
      const path = join(folder, 'wrong.toml')
      await writeFile(path, text, {mode: 0o600})
      const {exitCode, stderr} = await svcInTurn(['serve', '--model', 'tiny', '--port', '0', '--api-keys', path], {
        cwd: folder,
      })
      assert.deepEqual([exitCode, message.test(stderr), stderr.includes(keys.bob)], [2, true, false], stderr)
    })

  it('refuses a file that other users can read', async () => {
    await chmod(join(folder, 'keys.toml'), 0o644)
    const {exitCode, stderr} = await svcInTurn(['serve', '--model', 'tiny', '--port', '0', '--api-keys', 'keys.toml'], {
      cwd: folder,
    })
    assert.deepEqual([exitCode, /other users can read it; restrict it with chmod 600/.test(stderr)], [2, true], stderr)
  })
})
