import assert from 'node:assert/strict'
import {createReadStream} from 'node:fs'
import {readFile} from 'node:fs/promises'
import {before, describe, it, type TestContext} from 'node:test'
import OpenAI, {APIError, toFile} from 'openai'
import {SvcError} from '../../src/errors/index.js'
import type {Segment} from '../../src/speech/index.js'
import {joined, readClip} from '../support/sounds.js'
import {until} from '../support/until.js'
import {monoWave} from '../support/wave-file.js'
import {type Client, hello, helloText, type Part, speechSuite} from './support.js'

const {service, start, uploads} = speechSuite()
const transcriptions = '/v1/audio/transcriptions'
const translations = '/v1/audio/translations'
let client: Client
let openai: OpenAI
let sound: Buffer
before(async () => {
  sound = await readFile(hello)
  client = await start()
  openai = new OpenAI({baseURL: `${client.server.baseUrl}/v1`, apiKey: 'none', maxRetries: 0})
})

const file = () => createReadStream(hello)
const model = 'whisper-1'

/** Sends a form with `hello.wav` and text fields. */
const send = (fields: Readonly<Record<string, string>> | readonly Part[], path = transcriptions) => {
  const parts = Array.isArray(fields) ? fields : Object.entries(fields).map(([name, content]) => ({name, content}))
  return client.upload([{name: 'file', filename: 'hello.wav', content: sound}, ...parts], {}, path)
}

describe('the official OpenAI client', () => {
  it('transcribes a recording as json, text, srt and vtt', async () => {
    assert.deepEqual(await openai.audio.transcriptions.create({file: file(), model}), {text: helloText})
    const as = (format: 'text' | 'srt' | 'vtt') =>
      openai.audio.transcriptions.create({file: file(), model, response_format: format})
    assert.equal(await as('text'), `${helloText}\n`)
    assert.match(await as('srt'), new RegExp(`^1\n00:00:00,\\d{3} --> 00:00:02,\\d{3}\n${helloText}\n\n$`))
    assert.match(await as('vtt'), new RegExp(`^WEBVTT\n\n00:00:00\\.\\d{3} --> 00:00:02\\.\\d{3}\n${helloText}\n\n$`))
  })

  it('gets segments and words in verbose_json', async () => {
    const verbose = {file: file(), model, response_format: 'verbose_json'} as const
    const timed = await openai.audio.transcriptions.create({...verbose, timestamp_granularities: ['word', 'segment']})
    assert.deepEqual([timed.language, timed.text, timed.usage], ['english', helloText, {type: 'duration', seconds: 3}])
    assert.deepEqual(
      timed.words?.map(({word}) => word),
      helloText.split(' '),
    )
    const [segment] = timed.segments ?? []
    assert.equal(segment?.text, helloText)
    assert.ok(timed.words?.every(({start, end}) => start >= 0 && start < end && end <= timed.duration))
    const plain = await openai.audio.transcriptions.create({...verbose, file: file()})
    assert.equal(plain.words, undefined)
  })

  it('streams the text of each segment', async () => {
    const clip = await readClip(hello)
    const pause = new Float32Array(24_000)
    const recording = await toFile(monoWave(joined([clip, pause, clip, pause, clip])), 'three.wav')
    const stream = await openai.audio.transcriptions.create({
      file: recording,
      model,
      stream: true,
      chunking_strategy: {type: 'server_vad', threshold: 0.5},
    })
    const deltas: string[] = []
    let done: unknown
    for await (const event of stream) {
      assert.equal(done, undefined)
      if (event.type === 'transcript.text.delta') deltas.push(event.delta)
      else done = event
    }
    assert.deepEqual(deltas, [helloText, ` ${helloText}`, ` ${helloText}`])
    assert.deepEqual(done, {
      type: 'transcript.text.done',
      text: deltas.join(''),
      usage: {type: 'duration', seconds: 12},
    })
  })

  it('lists and describes the served model', async () => {
    const ids: string[] = []
    for await (const {id} of openai.models.list()) ids.push(id)
    assert.deepEqual(ids, ['starter'])
    const {id, created, owned_by: owner} = await openai.models.retrieve('starter')
    assert.deepEqual([id, owner, Number.isInteger(created)], ['starter', 'svc', true])
    assert.equal((await openai.models.retrieve(model)).id, 'starter')
    await assert.rejects(openai.models.retrieve('gpt-4'), {status: 404, code: 'model_not_found'})
  })

  it('cannot translate with a model for one language', async () => {
    await assert.rejects(openai.audio.translations.create({file: file(), model}), {
      status: 400,
      param: 'model',
      message: /supports only one language and cannot translate/,
    })
  })
})

describe('POST /v1/audio/transcriptions', () => {
  it('accepts the served model and the names of hosted models', async () => {
    for (const model of ['', 'starter', 'whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe'])
      assert.deepEqual((await send({model})).json, {text: helloText})
  })

  for (const list of ['', '[]', '[1]'])
    it(`accepts a list as fields such as timestamp_granularities${list}, and fields without an effect`, async () => {
      const {json} = await send([
        {name: `timestamp_granularities${list.replace('1', '0')}`, content: 'segment'},
        {name: `timestamp_granularities${list}`, content: 'word'},
        {name: 'response_format', content: 'verbose_json'},
        {name: 'chunking_strategy[type]', content: 'server_vad'},
        {name: 'chunking_strategy[threshold]', content: '0.5'},
        {name: 'user', content: 'ann'},
      ])
      assert.equal((json.words as unknown[]).length, helloText.split(' ').length)
    })

  it('names the only language of the model for silence', async () => {
    const silence = monoWave(new Float32Array(16_000))
    const parts = [
      {name: 'file', filename: 'silence.wav', content: silence},
      {name: 'response_format', content: 'verbose_json'},
    ]
    const {json} = await client.upload(parts, {}, transcriptions)
    assert.deepEqual([json.text, json.language], ['', 'english'])
  })

  it('applies language, prompt and temperature', async (test) => {
    const transcribe = test.mock.method(service, 'transcribeFile')
    const fields = {language: 'english', prompt: 'Own machines.', temperature: '0.2', chunking_strategy: 'auto'}
    assert.equal((await send(fields)).status, 200)
    assert.equal((await send({language: '', prompt: '', temperature: ''})).status, 200)
    assert.equal((await send(fields, translations)).status, 400)
    const chosen = {prompt: 'Own machines.', temperature: 0.2}
    assert.deepEqual(
      transcribe.mock.calls.map(({arguments: [, request]}) => request),
      [{task: 'transcribe', language_hint: 'english', ...chosen}, {task: 'transcribe'}, {task: 'translate', ...chosen}],
    )
  })

  it('returns the text on one line, and English as the language of a translation', async (test) => {
    const segments = ['One.', 'Two.'].map((text) => ({text, startSec: 0, endSec: 1, tokens: []}) as unknown as Segment)
    const transcript = {
      task: 'translate',
      language: 'de',
      languageProbability: 1,
      durationSec: 1,
      text: 'One. Two.',
      segments,
      alternatives: [],
    } as const
    test.mock.method(service, 'transcribeFile', async () => ({transcript}))
    assert.equal((await send({response_format: 'text'}, translations)).text, 'One. Two.\n')
    const {json} = await send({response_format: 'verbose_json'}, translations)
    assert.deepEqual([json.task, json.language, json.text], ['translate', 'english', 'One. Two.'])
  })

  it('counts the recording in the metrics', async () => {
    const count = async () =>
      Number(/^svc_speech_transcripts_total (\d+)$/m.exec((await client.send('/metrics')).text)?.[1])
    const before = await count()
    await send({})
    await send({stream: 'true'})
    assert.equal(await count(), before + 2)
  })

  const refused: readonly [
    what: string,
    fields: Readonly<Record<string, string>>,
    status: number,
    param: string,
    code?: string,
  ][] = [
    ['an unknown format', {response_format: 'docx'}, 400, 'response_format'],
    ['a stream of subtitles', {response_format: 'srt', stream: 'true'}, 400, 'response_format', 'unsupported_value'],
    ['a temperature over 1', {temperature: '1.5'}, 400, 'temperature'],
    ['a temperature that is not a number', {temperature: 'warm'}, 400, 'temperature'],
    ['an unknown granularity', {'timestamp_granularities[]': 'phoneme'}, 400, 'timestamp_granularities'],
    ['words without verbose_json', {'timestamp_granularities[]': 'word'}, 400, 'timestamp_granularities'],
    ['a stream that is neither true nor false', {stream: 'maybe'}, 400, 'stream'],
    ['an unknown chunking strategy', {chunking_strategy: '{"type":"random"}'}, 400, 'chunking_strategy'],
    ['a chunking strategy of an unknown type', {'chunking_strategy[type]': 'random'}, 400, 'chunking_strategy'],
    ['log probabilities', {'include[]': 'logprobs'}, 400, 'include', 'unsupported_value'],
    ['names of speakers', {'known_speaker_names[0]': 'Ann'}, 400, 'known_speaker_names', 'unsupported_value'],
    ['a misspelled field', {langauge: 'en'}, 400, 'langauge', 'unknown_parameter'],
    ['a field of another server', {vad_filter: 'true'}, 400, 'vad_filter', 'unknown_parameter'],
    ['an invalid language', {language: 'x'}, 400, 'language'],
    ['a language that the model does not support', {language: 'de'}, 400, 'language'],
    ['an unknown model', {model: 'gpt-4'}, 404, 'model', 'model_not_found'],
    ['an unknown model of a stream', {model: 'gpt-4', stream: 'true'}, 404, 'model', 'model_not_found'],
  ]
  for (const [what, fields, status, param, code = null] of refused)
    it(`refuses ${what}`, async () => {
      const answer = await send(fields)
      assertRefused(answer, {status, param, code})
      assert.deepEqual(await uploads(), [])
    })

  const badRecordings: readonly [what: string, parts: readonly Part[], status: number, param: string | null][] = [
    ['a form without a recording', [{name: 'model', content: model}], 400, 'file'],
    ['an empty recording', [{name: 'file', filename: 'a.wav', content: ''}], 400, 'file'],
    ['something other than audio', [{name: 'file', filename: 'a.wav', content: '{"a": 1}'}], 415, 'file'],
    ['a recording over the limit', [{name: 'file', content: new Uint8Array((1 << 20) + 1)}], 413, null],
  ]
  for (const [what, parts, status, param] of badRecordings)
    it(`refuses ${what}`, async () => {
      const code = status === 413 ? 'request_too_large' : null
      assertRefused(await client.upload(parts, {}, transcriptions), {status, param, code})
      const streamed = await client.upload([...parts, {name: 'stream', content: 'true'}], {}, transcriptions)
      assertRefused(streamed, {status, param, code})
      assert.deepEqual(await uploads(), [])
    })

  it('refuses a body that is not a form, a missing token and an unknown route', async () => {
    const json = await client.upload([], {'content-type': 'application/json'}, transcriptions)
    assertRefused(json, {status: 400, param: null, code: null})
    const secured = await start({token: 'sesame-sesame-sesame'})
    assertRefused(await secured.send('/v1/models'), {status: 401, param: null, code: 'invalid_api_key'})
    assertRefused(await client.send('/v1/nothing'), {status: 404, param: null, code: 'unknown_url'})
    assert.equal((await client.send('/nothing')).json.error, 'route_unknown')
  })

  function assertRefused(
    {status, json}: Awaited<ReturnType<typeof send>>,
    expected: {status: number; param: string | null; code: string | null},
  ): void {
    const {message, type, param, code} = json.error as Record<string, unknown>
    assert.deepEqual({status, param, code}, expected, JSON.stringify(json))
    assert.deepEqual([type, typeof message], ['invalid_request_error', 'string'])
  }
})

describe('a busy speech server', () => {
  /** Occupies the queue until `release` is called. */
  function occupy() {
    let release = () => {}
    const work = () =>
      new Promise<void>((resolve) => {
        release = resolve
      })
    const running = service.queue.run(work, new AbortController().signal)
    return {
      release: async () => {
        release()
        await running
      },
    }
  }

  it('refuses further recordings with Retry-After, also as a stream', async () => {
    const first = occupy()
    const waiting = Array.from({length: 16}, () =>
      service.queue.run(async () => undefined, new AbortController().signal),
    )
    for (const stream of ['false', 'true']) {
      const {status, headers, json} = await send({stream})
      const {code, type} = json.error as Record<string, unknown>
      assert.deepEqual([status, headers.get('retry-after'), code, type], [503, '1', 'overloaded', 'server_error'])
    }
    await first.release()
    await Promise.all(waiting)
  })

  it('forgets the recording of a client that disconnects while it waits', async () => {
    const first = occupy()
    for (const stream of [false, true]) {
      const abort = new AbortController()
      const body = {file: file(), model, stream: stream as true}
      const rejected = assert.rejects(openai.audio.transcriptions.create(body, {signal: abort.signal}), /aborted/)
      await until(() => service.queue.pending === 2, 'the recording waits')
      abort.abort()
      await rejected
      await until(() => service.queue.pending === 1, 'the recording no longer waits')
      await until(async () => (await uploads()).length === 0, 'the upload is deleted')
    }
    await first.release()
  })
})

describe('a stream of a transcription', () => {
  /** Lets the transcription report one segment, and end as the test wants. */
  function afterOneSegment(test: TestContext, end: (signal: AbortSignal) => Promise<never>): void {
    test.mock.method(service, 'transcribeFile', async (...[, , hooks]: Parameters<typeof service.transcribeFile>) => {
      await hooks.onSegment?.({text: 'one'} as Segment)
      return end(hooks.signal)
    })
  }
  const stream = () => openai.audio.transcriptions.create({file: file(), model, stream: true})

  it('sends a segment while the next one is recognised, and stops when the client disconnects', async (test) => {
    let aborted = false
    afterOneSegment(
      test,
      (signal) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            aborted = true
            reject(signal.reason)
          }),
        ),
    )
    for await (const event of await stream()) {
      assert.deepEqual(event, {type: 'transcript.text.delta', delta: 'one'})
      assert.equal(aborted, false)
      break
    }
    await until(() => aborted, 'the transcription is aborted')
    await until(async () => (await uploads()).length === 0, 'the upload is deleted')
  })

  it('ends with the error of a transcription that fails', async (test) => {
    let fail = () => {}
    afterOneSegment(
      test,
      () =>
        new Promise((_, reject) => {
          fail = () => reject(new SvcError('recognition_failed', {reason: 'out of memory'}))
        }),
    )
    await assert.rejects(
      async () => {
        for await (const _ of await stream()) fail()
      },
      (error) => error instanceof APIError && /out of memory/.test(error.message),
    )
  })
})
