import assert from 'node:assert/strict'
import {mkdir, readFile, symlink, writeFile} from 'node:fs/promises'
import {get as httpsGet} from 'node:https'
import {connect} from 'node:net'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {selfSigned} from '../support/self-signed.js'
import {suiteFolder} from '../support/temporary.js'
import {until} from '../support/until.js'
import {assertSelfContained} from '../support/web-page.js'
import {boundary, type Client, defaultSettings, form, hello, helloText, speechSuite} from './support.js'

const {root, service, start, uploads, withSettings} = speechSuite()
let client: Client
let sound: Buffer
before(async () => {
  sound = await readFile(hello)
  client = await start()
})

describe('POST /api/audio/transcribe', () => {
  it('transcribes a recording of the workspace, by relative or absolute path', async () => {
    for (const path of ['hello.wav', join(root, 'hello.wav')]) {
      const {status, json} = await client.post({path})
      assert.equal(status, 200, JSON.stringify(json))
      assert.equal(json.text, helloText)
      assert.match(String(json.path), /hello\.wav$/)
      assert.equal(json.segments, undefined)
      assert.deepEqual(await contractViolations('cli/transcribe.v1', json), [])
    }
  })

  it('includes the segments, words, corrections and settings on request', async () => {
    const {json} = await client.post({path: 'hello.wav', include_segments: true, debug_parser_payload: true})
    assert.equal((json.segments as unknown[]).length, 1)
    assert.ok(Array.isArray(json.correction_trace))
    assert.deepEqual(json.runtime_config, {})
  })

  it('cleans up a text, with diagnostics of the language hint', async () => {
    await writeFile(join(root, 'note.txt'), ' so  um hello')
    const {json} = await client.post({path: 'note.txt', language_hint: 'german'})
    assert.equal(json.raw_text, ' so  um hello')
    assert.equal(json.text, 'so um hello')
    const diagnostics = json.language_diagnostics as {normalized: string; notes: string[]}
    assert.deepEqual([diagnostics.normalized, diagnostics.notes], ['de', ['language_hint_name_mapped']])
  })

  it('checks only the limits of the request', async () => {
    const {json} = await client.post({path: 'hello.wav', inference_deadline_ms: 60_000, max_duration_ms: 70_000})
    const diagnostics = json.deadline_diagnostics as {phase: string; limit_ms: number; taxonomy: string}[]
    assert.deepEqual(
      diagnostics.map((one) => [one.phase, one.limit_ms, one.taxonomy]),
      [
        ['transcribe', 60_000, 'ok'],
        ['session_total', 70_000, 'ok'],
      ],
    )
  })

  it('fails after a deadline, with the state of the session', async () => {
    const {status, json} = await client.post({path: 'hello.wav', inference_deadline_ms: 1})
    assert.deepEqual(
      [status, json.error, json.state, json.inference_deadline_ms],
      [504, 'speech_inference_timeout', 'failed', 1],
    )
    const total = await client.post({path: 'hello.wav', max_duration_ms: 1})
    assert.deepEqual([total.status, total.json.error], [504, 'speech_deadline_exceeded'])
  })

  it('refuses a language that the model does not support', async () => {
    const {status, json} = await client.post({path: 'hello.wav', language_hint: 'german'})
    assert.deepEqual([status, json.error], [400, 'unsupported_language'])
  })

  describe('refuses', () => {
    before(async () => {
      const outside = suiteFolderPath()
      await writeFile(join(outside, 'secret.wav'), sound)
      await symlink(outside, join(root, 'link'))
      await symlink(join(outside, 'secret.wav'), join(root, 'secret.wav'))
      await mkdir(join(root, 'folder'))
      await writeFile(join(root, 'page.wav'), '<!doctype html><title>x</title>')
      await writeFile(join(root, 'empty.wav'), '')
    })
    const suiteFolderPath = () => elsewhere
    const elsewhere = suiteFolder()
    const refused: readonly [what: string, body: unknown, status: number, code: string][] = [
      ['a path above the workspace', {path: '../secret.wav'}, 403, 'path_outside_workspace'],
      ['an absolute path elsewhere', {path: '/etc/hostname'}, 403, 'path_outside_workspace'],
      ['a linked directory', {path: 'link/secret.wav'}, 403, 'path_outside_workspace'],
      ['a linked file', {path: 'secret.wav'}, 403, 'path_outside_workspace'],
      ['a missing file', {path: 'none.wav'}, 404, 'file_not_found'],
      ['a directory', {path: 'folder'}, 400, 'not_a_file'],
      ['an empty path', {path: ' '}, 400, 'invalid_path'],
      ['a null character', {path: 'a\0b.wav'}, 400, 'invalid_path'],
      ['a URL', {path: 'https://example.com/a.wav'}, 400, 'invalid_path'],
      ['a network path', {path: '\\\\host\\a.wav'}, 400, 'invalid_path'],
      ['a path of 5000 bytes', {path: 'a'.repeat(5000)}, 400, 'invalid_path'],
      ['a missing path', {}, 400, 'bad_request'],
      ['an unknown profile', {path: 'hello.wav', profile: 'wild'}, 400, 'bad_request'],
      ['a limit of 0', {path: 'hello.wav', timeout_ms: 0}, 400, 'bad_request'],
      ['invalid JSON', '{"path":', 400, 'invalid_json'],
      ['an empty body', '', 400, 'body_missing'],
      ['a page', {path: 'page.wav'}, 415, 'unsupported_media_type'],
      ['an empty file', {path: 'empty.wav'}, 400, 'transcribe_failed'],
      ['a body of 65 KiB', {path: 'a'.repeat(65 << 10)}, 413, 'payload_too_large'],
    ]
    for (const [what, body, status, code] of refused)
      it(what, async () => {
        const answer = await client.post(body)
        assert.deepEqual([answer.status, answer.json.error], [status, code], JSON.stringify(answer.json))
        assert.ok(String(answer.json.message).length > 0 && String(answer.json.hint).length > 0)
        assert.ok(!JSON.stringify(answer.json).includes(elsewhere), 'no path outside the workspace')
      })

    it('a body of another type', async () => {
      const {status, json} = await client.post({path: 'hello.wav'}, {'content-type': 'text/plain'})
      assert.deepEqual([status, json.error], [415, 'unsupported_media_type'])
    })

    it('a named pipe', {skip: process.platform === 'win32' ? 'has no named pipes' : false}, async () => {
      const {execa} = await import('execa')
      await execa('mkfifo', [join(root, 'pipe.wav')])
      const {status, json} = await client.post({path: 'pipe.wav'})
      assert.deepEqual([status, json.error], [400, 'not_a_file'])
    })
  })
})

describe('POST /api/audio/transcribe/upload', () => {
  it('transcribes a part named file or audio, and deletes it afterwards', async () => {
    for (const name of ['file', 'audio']) {
      const {status, json} = await client.upload([{name, filename: 'C:\\clips\\take 1.wav', content: sound}])
      assert.equal(status, 200, JSON.stringify(json))
      assert.deepEqual([json.text, json.path], [helloText, 'take 1.wav'])
      assert.deepEqual(await contractViolations('cli/transcribe.v1', json), [])
    }
    assert.deepEqual(await uploads(), [])
  })

  it('accepts fields before and after the recording, and a recording without a file name', async () => {
    const {json} = await client.upload([
      {name: 'include_segments', content: 'true'},
      {name: 'file', content: sound},
      {name: 'language_hint', content: 'english'},
    ])
    assert.equal(json.text, helloText)
    assert.equal((json.segments as unknown[]).length, 1)
    assert.equal((json.language_diagnostics as {normalized: string}).normalized, 'en')
  })

  it('uses the first part that is not empty', async () => {
    const {json} = await client.upload([
      {name: 'file', filename: 'empty.wav', content: ''},
      {name: 'other', filename: 'other.wav', content: 'no audio'},
      {name: 'audio', filename: 'second.wav', content: sound},
      {name: 'file', filename: 'third.wav', content: 'no audio'},
    ])
    assert.deepEqual([json.text, json.path], [helloText, 'second.wav'])
  })

  it('cleans up an uploaded text', async () => {
    const {json} = await client.upload([{name: 'file', filename: 'note.txt', content: 'so  hello'}])
    assert.equal(json.text, 'so hello')
  })

  const refused: readonly [what: string, parts: Parameters<Client['upload']>[0], status: number, code: string][] = [
    ['a form without a recording', [{name: 'other', content: 'x'}], 400, 'missing_audio_field'],
    ['an empty recording', [{name: 'file', filename: 'a.wav', content: ''}], 400, 'missing_audio_field'],
    ['a part without a name', [{name: undefined, filename: 'a.wav', content: 'x'}], 400, 'missing_audio_field'],
    [
      'something other than audio',
      [{name: 'file', filename: 'a.wav', content: '{"a": 1}'}],
      415,
      'unsupported_media_type',
    ],
    [
      'an unknown profile',
      [
        {name: 'file', filename: 'a.wav', content: 'x'},
        {name: 'profile', content: 'wild'},
      ],
      400,
      'bad_request',
    ],
    [
      'a recording over the limit',
      [{name: 'file', filename: 'a.wav', content: new Uint8Array((1 << 20) + 1)}],
      413,
      'payload_too_large',
    ],
    [
      'a body far over the limit before it is read',
      [{name: 'file', filename: 'a.wav', content: new Uint8Array(33 << 20)}],
      413,
      'payload_too_large',
    ],
    [
      'too many fields',
      Array.from({length: 50}, (_, i) => ({name: `field-${i}`, content: 'x'})),
      400,
      'multipart_read_failed',
    ],
  ]
  for (const [what, parts, status, code] of refused)
    it(`refuses ${what}`, async () => {
      const answer = await client.upload(parts)
      assert.deepEqual([answer.status, answer.json.error], [status, code], JSON.stringify(answer.json))
      if (code === 'payload_too_large') assert.equal(answer.json.max_bytes, 1 << 20)
      assert.deepEqual(await uploads(), [])
    })

  it('refuses a body that is not a form', async () => {
    const {status, json} = await client.upload([], {'content-type': 'audio/wav'})
    assert.deepEqual([status, json.error], [400, 'multipart_read_failed'])
  })

  it('refuses a form that ends early', async () => {
    const {status, json} = await client.send('/api/audio/transcribe/upload', {
      method: 'POST',
      headers: {'content-type': `multipart/form-data; boundary=${boundary}`},
      body: form([{name: 'file', filename: 'a.wav', content: sound}]).subarray(0, 5000),
    })
    assert.deepEqual([status, json.error], [400, 'multipart_read_failed'])
    assert.deepEqual(await uploads(), [])
  })

  it('deletes the recording of a client that disconnects', async () => {
    const {host, port} = client.server
    const socket = connect(port, host)
    const body = form([{name: 'file', filename: 'a.wav', content: sound}])
    socket.write(
      `POST /api/audio/transcribe/upload HTTP/1.1\r\nhost: ${host}:${port}\r\ncontent-length: ${body.length}\r\n` +
        `content-type: multipart/form-data; boundary=${boundary}\r\n\r\n`,
    )
    socket.write(body.subarray(0, 20_000))
    await until(async () => (await uploads()).length === 1, 'the upload begins')
    socket.destroy()
    await until(async () => (await uploads()).length === 0, 'the upload is deleted')
    assert.equal((await client.post({path: 'hello.wav'})).json.text, helloText)
  })
})

describe('a busy speech server', () => {
  it('lets 16 requests wait, refuses more, and continues', async () => {
    let release = () => {}
    const running = service.queue.run(
      () =>
        new Promise<void>((resolve) => {
          release = resolve
        }),
      new AbortController().signal,
    )
    let refusals = 0
    const answers = Array.from({length: 20}, async () => {
      const answer = await client.post({path: 'hello.wav'})
      if (answer.status === 503 && ++refusals === 4) release()
      return answer
    })
    for (const {status, headers, json} of await Promise.all(answers))
      if (status === 200) assert.equal(json.text, helloText)
      else assert.deepEqual([status, json.error, headers.get('retry-after')], [503, 'busy', '1'])
    assert.equal(refusals, 4)
    await running
    assert.equal(service.queue.pending, 0)
  })
})

describe('settings of the speech server', () => {
  it('apply to the next request, with the same model', async () => {
    await withSettings({session: {...defaultSettings.session, toolRouteMinConfidence: 0.99}}, async () => {
      assert.equal((await client.post({path: 'hello.wav'})).json.clarification_recommended, true)
    })
    assert.equal((await client.post({path: 'hello.wav'})).json.clarification_recommended, false)
  })

  it('open another model if they select one', async () => {
    let located = 0
    const {source} = defaultSettings
    const locate = async (signal: AbortSignal) => {
      located++
      return source.locate(signal)
    }
    await withSettings({modelKey: 'other', source: {...source, locate}}, async () => {
      for (let i = 0; i < 2; i++) assert.equal((await client.post({path: 'hello.wav'})).json.text, helloText)
    })
    assert.equal(located, 1)
  })

  it('unload an idle model', async () => {
    await withSettings({keepAliveMs: 0}, async () => {
      await client.post({path: 'hello.wav'})
      await until(() => !service.isLoaded, 'the model is unloaded')
    })
    assert.equal((await client.post({path: 'hello.wav'})).json.text, helloText)
  })

  it('write partial results to a file', async () => {
    const path = join(root, 'logs', 'partial.jsonl')
    await withSettings({partial: {path, chunkSec: 0}}, async () => {
      await client.post({path: 'hello.wav'})
    })
    const [line = ''] = (await readFile(path, 'utf8')).split('\n')
    assert.equal(JSON.parse(line).partial_text, helloText)
  })
})

describe('access to the speech server', () => {
  it('requires the token except for / and /health', async () => {
    const secured = await start({token: 'sesame-sesame-sesame'})
    const bearer = {authorization: 'Bearer sesame-sesame-sesame'}
    for (const path of ['/', '/health']) assert.equal((await secured.send(path)).status, 200)
    for (const path of ['/metrics', '/api/audio/status']) {
      assert.equal((await secured.send(path)).status, 401)
      assert.equal((await secured.send(path, {headers: bearer})).status, 200)
    }
    const {status, headers, json} = await secured.post({path: 'hello.wav'})
    assert.deepEqual([status, json.error, headers.get('www-authenticate')], [401, 'unauthorized', 'Bearer'])
    assert.equal((await secured.post({path: 'hello.wav'}, bearer)).json.text, helloText)
  })

  it('refuses pages of other origins and foreign hosts', async () => {
    const foreign = await client.post({path: 'hello.wav'}, {origin: 'https://evil.example'})
    assert.deepEqual([foreign.status, foreign.json.error], [403, 'forbidden_origin'])
    assert.equal((await client.post({path: 'hello.wav'}, {origin: 'http://localhost:5173'})).status, 200)
    const {status, body} = await rawRequest(client, 'evil.example')
    assert.equal(status, 403)
    assert.match(body, /host_forbidden/)
  })

  it('accepts its own page under the name of the Host header', async () => {
    const token = 'sesame-sesame-sesame'
    const remote = await start({token, address: {host: '0.0.0.0', port: 0}})
    const host = `svc.test:${remote.server.port}`
    const status = async (origin: string) => (await rawRequest(remote, host, {origin})).status
    assert.equal(await status(`http://${host}`), 200)
    assert.equal(await status(`https://${host.toUpperCase()}`), 200)
    for (const origin of ['http://svc.test', `http://evil.svc.test:${remote.server.port}`, 'null'])
      assert.equal(await status(origin), 403, origin)
    assert.equal((await rawRequest(client, host, {origin: `http://${host}`})).status, 403)
  })

  it('serves a self-contained page with a strict content security policy', async () => {
    const {headers, text} = await client.send('/')
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
    assertSelfContained(text, headers.get('content-security-policy') ?? '')
    assert.match(headers.get('content-security-policy') ?? '', /media-src blob:/)
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
  })

  it('serves HTTPS and WSS with a certificate', async () => {
    const {cert, key} = selfSigned()
    const secure = await start({tls: {cert, key, minVersion: '1.3'}})
    assert.match(secure.server.baseUrl, /^https:/)
    const stream = secure.live('', {ca: cert})
    await stream.next('ready')
    stream.op({op: 'cancel'})
    await stream.closed
    const text = await new Promise<string>((resolve, reject) => {
      httpsGet(`${secure.server.baseUrl}/api/audio/status`, {ca: cert, agent: false}, async (response) =>
        resolve(String(Buffer.concat(await response.toArray()))),
      ).on('error', reject)
    })
    assert.match(JSON.parse(text).streaming.stream_ws_url, /^wss:/)
  })

  it('reports status and metrics', async () => {
    const {json} = await client.send('/api/audio/status')
    const {
      ok,
      model_loaded: loaded,
      streaming,
    } = json as {
      ok: boolean
      model_loaded: boolean
      streaming: {stream_ws_url: string}
    }
    assert.deepEqual([ok, loaded], [true, true])
    assert.equal(streaming.stream_ws_url, `${client.server.baseUrl.replace('http', 'ws')}/api/audio/transcribe/stream`)
    const metrics = (await client.send('/metrics')).text
    assert.match(metrics, /^svc_speech_http_requests_total\{status="200"\} \d+$/m)
    assert.match(metrics, /^svc_speech_model_loaded 1$/m)
  })
})

/** A request with a Host header that fetch would not send. */
function rawRequest(
  {server}: Client,
  host: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{status: number; body: string}> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1')
    let text = ''
    socket.on('data', (data) => {
      text += String(data)
    })
    socket.on('error', reject)
    socket.on('end', () => resolve({status: Number(text.split(' ')[1]), body: text}))
    const more = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`GET /health HTTP/1.1\r\nhost: ${host}\r\n${more.join('')}connection: close\r\n\r\n`)
  })
}
