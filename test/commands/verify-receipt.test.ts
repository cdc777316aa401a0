import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {after, before, describe, it} from 'node:test'
import {contractViolations, type VerifyReceiptV1} from '../../src/contracts/index.js'
import {ReceivedReply} from '../../src/serve/receipts/reply-content.js'
import {type RunningServer, startServer} from '../support/server.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {tinyAdapterFiles, tinyModelFiles} from '../support/tiny-model.js'

const prompt = 'a secret question'
const options = {num_predict: 6, temperature: 0.9}
const messages = [{role: 'user', content: prompt}]

/** A request to each route, without its seed. */
const requests: Readonly<Record<string, object>> = {
  '/api/generate': {prompt, raw: true, options},
  '/api/chat': {messages, options},
  '/v1/chat/completions': {messages, max_tokens: 6, temperature: 0.9, n: 2},
  '/v1/completions': {prompt: [prompt, 'another'], max_tokens: 6, temperature: 0.9},
}

interface Answered {
  receipt: string
  request: object
  /** A JSON object, or the text of a stream. */
  reply: string | Record<string, unknown>
}

async function ask({baseUrl}: RunningServer, route: string, stream: boolean, seed?: number): Promise<Answered> {
  const {options: own, ...others} = requests[route] as {options?: object}
  const seeded = seed === undefined ? {} : own === undefined ? {seed} : {options: {...own, seed}}
  const request = {...others, ...(own === undefined ? {} : {options: own}), ...seeded, stream}
  const response = await fetch(baseUrl + route, {method: 'POST', body: JSON.stringify(request)})
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return {receipt: response.headers.get('x-svc-receipt') ?? '', request, reply: stream ? text : JSON.parse(text)}
}

interface Verified {
  report: VerifyReceiptV1
  exitCode: number | undefined
}

const partsIn = ({report}: Verified, state: string) =>
  report.parts.filter((part) => part.state === state).map(({part}) => part)

describe('receipts of svc serve', () => {
  const folder = suiteFolder()
  let server: RunningServer
  const base = join(folder, 'base')
  const run = join(folder, 'run')
  before(async () => {
    await writeFiles(base, tinyModelFiles())
    const {'adapter_manifest.json': manifest, ...adapter} = tinyAdapterFiles()
    const declared = JSON.stringify({...JSON.parse(manifest as string), base_model: '../base'})
    await writeFiles(run, {...adapter, 'adapter_manifest.json': declared})
    await writeFiles(join(folder, 'other'), {...tinyAdapterFiles({}, {seed: 10})})
    server = await startServer(['--model', run])
  })
  after(() => server.stop())

  const verify = async (receipt: string, args: readonly string[] = ['--model', run], input?: string) => {
    const command = ['verify-receipt', receipt, '--json', '--quiet', '--threads', '1', ...args]
    const {stdout, stderr, exitCode} = await svcInTurn(command, input === undefined ? {} : {input})
    const report = JSON.parse(stdout)
    if (!('error' in report))
      assert.deepEqual(await contractViolations('cli/verify-receipt.v1', report), [], stdout + stderr)
    return {report, exitCode} as Verified
  }
  const verifyExchange = (exchange: object, ...args: string[]) =>
    verify('-', args.length === 0 ? undefined : args, JSON.stringify(exchange))

  for (const [i, route] of Object.keys(requests).entries())
    it(`are of every reply of ${route}, complete and streamed, and verified by running it again`, async () => {
      const answers = [await ask(server, route, false, 7), await ask(server, route, true, 7)]
      const [complete, streamed] = answers.map(({receipt, reply}) => ({
        receipt,
        choices: ReceivedReply.of(reply)?.choices,
      }))
      assert.deepEqual(streamed, complete)
      assert.equal(complete?.choices?.length, i < 2 ? 1 : 2)
      const {receipt, request, reply} = await ask(server, route, i % 2 === 0)
      for (const secret of [prompt, Buffer.from(prompt).toString('base64'), folder])
        assert.ok(!receipt.includes(secret))
      const {report, exitCode} = await verifyExchange({receipt, request, reply})
      assert.deepEqual([exitCode, report.result, report.reply?.state], [0, 'verified', 'same'], JSON.stringify(report))
      if (route.startsWith('/v1'))
        assert.ok(JSON.stringify(reply).includes(receipt.replace(/,sampling=.*/, '')), 'system_fingerprint')
    })

  it('are the same in a batch, after a restart, and for another server of the same files', async (test) => {
    const alone = await ask(server, '/api/generate', false, 7)
    const together = await Promise.all(
      Array.from({length: 4}, (_, i) => ask(server, '/api/generate', i % 2 === 0, 7 + (i % 2))),
    )
    assert.deepEqual(
      together.map(({receipt}) => receipt),
      Array.from({length: 4}, (_, i) => alone.receipt.replace(/seed=7$/, `seed=${7 + (i % 2)}`)),
    )
    const restarted = await startServer(['--model', run])
    test.after(() => restarted.stop())
    const {receipt, reply} = await ask(restarted, '/api/generate', false, 7)
    assert.equal(receipt, alone.receipt)
    const textOf = (value: Answered['reply']) => (value as {response: string}).response
    assert.equal(textOf(reply), textOf(alone.reply))
  })

  it('are not of errors, and pages may read them', async () => {
    const long = {prompt: 'x'.repeat(2000), raw: true, options}
    for (const stream of [false, true]) {
      const refused = await fetch(`${server.baseUrl}/api/generate`, {
        method: 'POST',
        body: JSON.stringify({...long, stream}),
      })
      assert.deepEqual([refused.status, refused.headers.get('x-svc-receipt')], [400, null])
    }
    const headers = {origin: 'http://localhost:5000'}
    const page = await fetch(`${server.baseUrl}/api/version`, {headers})
    assert.equal(page.headers.get('access-control-expose-headers'), 'x-request-id, x-svc-receipt')
  })

  it('name each part that was changed', async () => {
    const {receipt, request, reply} = await ask(server, '/v1/chat/completions', false, 7)
    const ofModel: [part: string, value: string][] = [
      ...['base', 'adapter', 'template', 'tokenizer'].map((part): [string, string] => [part, '0'.repeat(32)]),
      ['precision', 'w8-7bit'],
      ['program', '0.0.9+onnxruntime.1.0.0.cpu'],
      ['bytes', 'same'],
    ]
    const ofRequest: typeof ofModel = [
      ['sampling', '0'.repeat(32)],
      ['seed', '8'],
    ]
    const changed = (values: typeof ofModel) =>
      values.reduce((text, [part, value]) => text.replace(new RegExp(`${part}=[^,]+`), `${part}=${value}`), receipt)
    const args = ['--model', run, '--precision', 'f32']
    for (const parts of [ofModel.filter((_, i) => i % 2 === 0), ofModel.filter((_, i) => i % 2 === 1)]) {
      const verified = await verify(changed(parts), args)
      const names = parts.map(([part]) => part).sort()
      assert.deepEqual([verified.exitCode, partsIn(verified, 'different').sort()], [4, names])
    }
    const all = await verifyExchange({receipt: changed(ofRequest), request, reply}, ...args)
    assert.deepEqual([all.exitCode, partsIn(all, 'different')], [4, ['sampling', 'seed']])
  })

  it('say from which byte on another reply differs', async () => {
    const {receipt, request, reply} = await ask(server, '/api/generate', false, 7)
    const {response: text} = reply as {response: string}
    const changed = {...(reply as object), response: `${text}é`}
    const {report, exitCode} = await verifyExchange({receipt, request, reply: changed})
    assert.deepEqual([exitCode, report.result], [1, 'reply_differs'])
    assert.deepEqual(report.reply?.difference, {choice: 0, byte: Buffer.byteLength(text)})
  })

  it('are checked without a request, from an argument or a file, against an adapter by name', async () => {
    const {receipt} = await ask(server, '/api/generate', true, 7)
    const file = join(folder, 'receipt')
    await writeFile(file, `${receipt}\n`)
    const adapters = ['--adapter', `other=${join(folder, 'other')}`, '--adapter', `tone=${run}`]
    const cases: [string, string[]][] = [
      [receipt, ['--model', run]],
      [file, ['--model', base, ...adapters]],
    ]
    for (const [given, args] of cases) {
      const verified = await verify(given, args)
      assert.deepEqual([verified.exitCode, partsIn(verified, 'different')], [0, []])
      assert.deepEqual(partsIn(verified, 'unchecked'), ['precision', 'sampling', 'seed'])
    }
    const other = await verify(receipt, ['--model', base, ...adapters.slice(0, 2)])
    assert.deepEqual([other.exitCode, partsIn(other, 'different')], [4, ['adapter']])
  })

  it('are printed by svc generate --json', async () => {
    const {stdout} = await svcInTurn([
      'generate',
      '--model',
      run,
      '--json',
      '--max-tokens',
      '2',
      '--threads',
      '1',
      'Hi',
    ])
    const {exitCode, report} = await verify(JSON.parse(stdout).receipt)
    assert.equal(exitCode, 0, JSON.stringify(report))
  })

  it('have adapters of the form NAME=DIR, in every command that accepts them', async () => {
    const cases = [
      [['none'], /--adapter must be NAME=DIR, not "none"/],
      [['a=', '--quiet'], /--adapter must be NAME=DIR, not "a="/],
      [['a=.', '--adapter', 'a=.'], /--adapter names two adapters a\./],
      [['a=./nowhere'], /nowhere/],
    ] as const
    for (const command of [
      ['verify-receipt', 'svc1:base=0'],
      ['serve', '--port', '0', '--model', base],
    ])
      for (const [words, message] of cases) {
        const {stderr, exitCode} = await svcInTurn([...command, '--adapter', ...words], {cwd: folder})
        assert.match(stderr, message)
        assert.ok(exitCode === 2 || message.source === 'nowhere', stderr)
      }
  })

  it('are refused with the reason if they cannot be read', async () => {
    const {receipt, request} = await ask(server, '/api/generate', false, 7)
    const cases: [string, string | undefined, string, RegExp][] = [
      ['svc1:base=0', undefined, 'receipt_malformed', /part base/],
      ['-', '{"receipt": 7}', 'exchange_invalid', /no receipt/],
      ['-', '{', 'exchange_invalid', /not JSON/],
      ['-', JSON.stringify({receipt, request}), 'exchange_invalid', /reply/],
      ['-', JSON.stringify({receipt, request: [], reply: {response: ''}}), 'exchange_invalid', /request/],
      [join(folder, 'none'), undefined, 'file_not_found', /none/],
    ]
    for (const [given, input, code, message] of cases) {
      const {report, exitCode} = await verify(given, undefined, input)
      const {error} = report as unknown as {error: {code: string; message: string}}
      assert.equal(error.code, code)
      assert.match(error.message, message)
      assert.ok(exitCode === 2 || code === 'file_not_found')
    }
    const refused = await verifyExchange({receipt, request: {...request, images: ['x']}, reply: {response: ''}})
    const {error} = refused.report as unknown as {error: {code: string}}
    assert.deepEqual([error.code, refused.exitCode], ['exchange_refused', 1])
  })
})
