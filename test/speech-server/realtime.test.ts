import assert from 'node:assert/strict'
import {before, describe, it} from 'node:test'
import OpenAI from 'openai'
import {OpenAIRealtimeWS} from 'openai/realtime/ws'
import type {RealtimeServerEvent, RealtimeTranscriptionSessionCreateRequest} from 'openai/resources/realtime/realtime'
import WebSocket from 'ws'
import {resampler} from '../../src/audio/index.js'
import {type RealtimeError, realtimeErrors, realtimeFields, Sessions} from '../../src/speech-server/index.js'
import {selfSigned} from '../support/self-signed.js'
import {readClip} from '../support/sounds.js'
import {temporaryFolder} from '../support/temporary.js'
import {until} from '../support/until.js'
import {type Client, hello, helloText, speechSuite} from './support.js'

const {service, start} = speechSuite()
let client: Client
/** `hello.wav` at 24 kHz, s16le, and half a second of silence. */
let sound: Buffer
const silence = Buffer.alloc(48_000)

before(async () => {
  client = await start()
  sound = await at(24_000)
})

async function at(rate: number): Promise<Buffer> {
  const samples = await readClip(hello)
  const to = resampler(16_000, rate)
  const all = [...to.push(samples), ...to.flush()]
  return Buffer.from(Int16Array.from(all, (x) => Math.max(-32_768, Math.min(32_767, 32_768 * x))).buffer)
}

type EventOf<T extends RealtimeServerEvent['type']> = Extract<RealtimeServerEvent, {type: T}>

/** A client that knows only the public protocol. */
class Peer {
  readonly socket: WebSocket
  readonly events: RealtimeServerEvent[] = []
  readonly refused: Promise<number>
  readonly closed: Promise<number>

  constructor(
    server: Client,
    query = '?intent=transcription',
    protocols: string[] = [],
    options: WebSocket.ClientOptions = {},
  ) {
    this.socket = new WebSocket(
      `${server.server.baseUrl.replace('http', 'ws')}/v1/realtime${query}`,
      protocols,
      options,
    )
    this.socket.on('message', (data) => this.events.push(JSON.parse(String(data))))
    this.socket.on('error', () => undefined)
    this.refused = new Promise((resolve) => {
      this.socket.once('unexpected-response', (request, response) => {
        resolve(response.statusCode ?? 0)
        request.destroy()
      })
    })
    this.closed = new Promise((resolve) => {
      this.socket.once('close', resolve)
    })
  }

  send(event: object): void {
    this.socket.send(JSON.stringify(event))
  }

  append(audio: Buffer, bytes = 4800): void {
    for (let from = 0; from < audio.length; from += bytes)
      this.send({type: 'input_audio_buffer.append', audio: audio.subarray(from, from + bytes).toString('base64')})
  }

  of<T extends RealtimeServerEvent['type']>(type: T): EventOf<T>[] {
    return this.events.filter((event): event is EventOf<T> => event.type === type)
  }

  async next<T extends RealtimeServerEvent['type']>(type: T, count = 1): Promise<EventOf<T>> {
    await until(() => this.of(type).length >= count, `${type} no. ${count}`)
    return this.of(type)[count - 1] as EventOf<T>
  }
}

const completed = 'conversation.item.input_audio_transcription.completed'
const delta = 'conversation.item.input_audio_transcription.delta'

const inputOf = (event: {session: unknown}) =>
  (event.session as {audio: {input: {turn_detection: unknown; format: unknown; transcription: unknown}}}).audio.input

const idOf = ({session}: {session: object}) => (session as {id: string}).id

describe('the Realtime API', () => {
  it('transcribes utterances that the server ends after a pause', async () => {
    const peer = new Peer(client)
    const created = await peer.next('session.created')
    assert.deepEqual(inputOf(created).format, {type: 'audio/pcm', rate: 24_000})
    peer.append(Buffer.concat([sound, silence, sound, silence]))
    await peer.next(completed, 2)
    assert.deepEqual(
      peer.of(completed).map(({transcript}) => transcript),
      [helloText, helloText],
    )
    const ids = peer.of('input_audio_buffer.committed').map(({item_id: id}) => id)
    assert.equal(new Set(ids).size, 2)
    assert.deepEqual(
      peer.of(completed).map(({item_id: id}) => id),
      ids,
    )
    assert.deepEqual(
      peer.of('input_audio_buffer.committed').map(({previous_item_id: before}) => before),
      [null, ids[0]],
    )
    for (const id of ids)
      assert.equal(
        peer
          .of(delta)
          .filter((event) => event.item_id === id)
          .map((event) => event.delta)
          .join(''),
        helloText,
      )
    const [started] = peer.of('input_audio_buffer.speech_started')
    const [stopped] = peer.of('input_audio_buffer.speech_stopped')
    assert.equal(started?.item_id, ids[0])
    assert.ok((started?.audio_start_ms ?? -1) < (stopped?.audio_end_ms ?? 0))
    assert.equal(
      new Set((peer.events as {event_id?: string}[]).map((event) => event.event_id)).size,
      peer.events.length,
    )
    peer.socket.close(1000)
  })

  it('transcribes what the client commits, without turn detection', async () => {
    const peer = new Peer(client)
    const input = {turn_detection: null, format: {type: 'audio/pcm', rate: 16_000}, transcription: {language: 'en'}}
    await peer.next('session.created')
    peer.send({type: 'session.update', session: {type: 'transcription', audio: {input}}})
    const updated = await peer.next('session.updated')
    assert.deepEqual(inputOf(updated), {
      ...input,
      noise_reduction: null,
      transcription: {model: 'starter', language: 'en'},
    })
    const audio = await at(16_000)
    peer.append(Buffer.concat([audio, silence, audio]))
    peer.send({type: 'input_audio_buffer.commit'})
    assert.equal((await peer.next(completed)).transcript, `${helloText} ${helloText}`)
    for (const type of ['input_audio_buffer.speech_started', 'input_audio_buffer.speech_stopped'] as const)
      assert.deepEqual(peer.of(type), [])
    peer.append(audio)
    peer.send({type: 'input_audio_buffer.clear'})
    await peer.next('input_audio_buffer.cleared')
    peer.send({type: 'input_audio_buffer.commit', event_id: 'mine'})
    const {error} = await peer.next('error')
    assert.deepEqual(
      [error.type, error.code, error.event_id],
      ['invalid_request_error', 'input_audio_buffer_commit_empty', 'mine'],
    )
    peer.socket.close(1000)
  })

  it('joins the halves of a sample that two appends divide', async () => {
    const peer = new Peer(client)
    await peer.next('session.created')
    peer.append(sound, 3201)
    peer.send({type: 'input_audio_buffer.commit'})
    assert.equal((await peer.next(completed)).transcript, helloText)
    assert.deepEqual(peer.of('error'), [])
    peer.socket.close(1000)
  })

  it('follows the sequence of events of LiveKit Agents', async () => {
    const peer = new Peer(client, '?intent=transcription&model=gpt-4o-mini-transcribe', [], {
      headers: {'user-agent': 'LiveKit Agents', authorization: 'Bearer none'},
    })
    // It sends its configuration without waiting for session.created, and then chunks of 50 ms.
    await until(() => peer.socket.readyState === WebSocket.OPEN, 'the connection')
    peer.send({
      type: 'session.update',
      session: {
        type: 'transcription',
        audio: {
          input: {
            format: {rate: 24_000, type: 'audio/pcm'},
            transcription: {model: 'gpt-4o-mini-transcribe', prompt: '', language: 'en'},
            turn_detection: {
              type: 'server_vad',
              threshold: 0.5,
              prefix_padding_ms: 600,
              silence_duration_ms: 350,
            },
          },
        },
      },
    })
    peer.append(Buffer.concat([sound, silence]), 2400)
    const {item_id: item, transcript} = await peer.next(completed)
    assert.equal(transcript, helloText)
    assert.deepEqual(
      peer.events.map(({type}) => type).filter((type) => type !== delta),
      [
        'session.created',
        'session.updated',
        'input_audio_buffer.speech_started',
        'input_audio_buffer.speech_stopped',
        'input_audio_buffer.committed',
        'conversation.item.added',
        completed,
      ],
    )
    assert.equal((await peer.next('input_audio_buffer.speech_started')).item_id, item)
    peer.socket.close(1000)
  })

  it('works with the official client, which requires TLS', async () => {
    const {cert, key} = selfSigned()
    const secure = await start({tls: {cert, key, minVersion: '1.2'}})
    const openai = new OpenAI({apiKey: 'none', baseURL: `${secure.server.baseUrl}/v1`})
    const realtime = new OpenAIRealtimeWS({model: 'whisper-1', options: {ca: cert}}, openai)
    const done = new Promise<string>((resolve, reject) => {
      realtime.on('error', ({error}) => {
        if (error?.code !== 'unknown_parameter' || error.param !== 'session.input_audio_format') reject(error)
        else refused = true
      })
      realtime.on(completed, ({transcript}) => resolve(transcript))
    })
    let refused = false
    realtime.on('session.created', () => {
      // @ts-expect-error a field of an earlier version of the API
      realtime.send({type: 'session.update', session: {type: 'transcription', input_audio_format: 'pcm16'}})
      realtime.send({
        type: 'session.update',
        session: {type: 'transcription', audio: {input: {transcription: {model: 'whisper-1'}}}},
      })
      realtime.send({type: 'input_audio_buffer.append', audio: sound.toString('base64')})
      realtime.send({type: 'input_audio_buffer.commit'})
    })
    assert.equal(await done, helloText)
    assert.ok(refused)
    realtime.close()
  })

  it('continues a session after a lost connection, with the same items', async (test) => {
    const folder = await temporaryFolder(test)
    const keeping = await start({sessions: await Sessions.start(service, {folder, ttlMs: 60_000})})
    const first = new Peer(keeping)
    const id = idOf(await first.next('session.created'))
    first.append(Buffer.concat([sound, silence, sound.subarray(0, 48_000)]))
    await first.next(completed)
    await until(() => first.of('input_audio_buffer.speech_started').length === 2, 'the second utterance')
    first.socket.terminate()
    const second = new Peer(keeping, `?session=${id}`)
    assert.equal(idOf(await second.next('session.created')), id)
    assert.deepEqual(
      second.of(completed).map(({item_id: item}) => item),
      [first.of(completed)[0]?.item_id],
    )
    second.append(sound.subarray(48_000))
    second.send({type: 'input_audio_buffer.commit'})
    assert.equal((await second.next(completed, 2)).transcript, helloText)
    second.socket.close(1000)
  })

  const update = (session: object) => ({type: 'session.update', session})
  const place = 'session.audio.input'
  const transcribing = (transcription: object) => update({audio: {input: {transcription}}})
  const detecting = (detection: object) => update({audio: {input: {turn_detection: detection}}})
  const invalid: [string, object | string, RealtimeError, string | null, RegExp?][] = [
    ['nonsense', 'nonsense', 'invalid_event', null],
    ['a list', '[]', 'invalid_event', null],
    ['an event without a type', {}, 'invalid_event', 'type'],
    ['an unknown event', {type: 'response.create'}, 'invalid_value', 'type', /session\.update/],
    ['an update without a session', {type: 'session.update'}, 'missing_required_parameter', 'session'],
    ['an append without audio', {type: 'input_audio_buffer.append'}, 'missing_required_parameter', 'audio'],
    ['an unknown field of an event', {type: 'input_audio_buffer.commit', audio: ''}, 'unknown_parameter', 'audio'],
    ['audio that is not base64', {type: 'input_audio_buffer.append', audio: '§'}, 'invalid_value', 'audio'],
    ['audio that is no text', {type: 'input_audio_buffer.append', audio: [1]}, 'invalid_type', 'audio'],
    ['a commit without audio', {type: 'input_audio_buffer.commit'}, 'input_audio_buffer_commit_empty', null],
    ['an unknown setting', update({foo: 1}), 'unknown_parameter', 'session.foo'],
    [
      'a flat session',
      update({input_audio_format: 'pcm16'}),
      'unknown_parameter',
      'session.input_audio_format',
      /Use session\.audio\.input\.format\.$/,
    ],
    ['a flat detector', update({turn_detection: null}), 'unknown_parameter', 'session.turn_detection'],
    ['a misspelled setting', transcribing({langage: 'en'}), 'unknown_parameter', `${place}.transcription.langage`],
    ['a session that is a text', {type: 'session.update', session: 'x'}, 'invalid_type', 'session'],
    ['a conversation session', update({type: 'realtime'}), 'invalid_value', 'session.type'],
    [
      'an unknown format',
      update({audio: {input: {format: {type: 'audio/opus'}}}}),
      'invalid_value',
      `${place}.format.type`,
    ],
    ['another rate', update({audio: {input: {format: {rate: 7}}}}), 'invalid_value', `${place}.format.rate`],
    ['semantic turn detection', detecting({type: 'semantic_vad'}), 'invalid_value', `${place}.turn_detection.type`],
    [
      'another threshold',
      detecting({threshold: 0.7}),
      'invalid_value',
      `${place}.turn_detection.threshold`,
      /Settings/,
    ],
    [
      'a pause as a text',
      detecting({silence_duration_ms: '5'}),
      'invalid_type',
      `${place}.turn_detection.silence_duration_ms`,
    ],
    [
      'a short pause',
      detecting({silence_duration_ms: 5}),
      'invalid_value',
      `${place}.turn_detection.silence_duration_ms`,
    ],
    ['noise reduction', update({audio: {input: {noise_reduction: {}}}}), 'invalid_value', `${place}.noise_reduction`],
    [
      'log-probabilities',
      update({include: ['item.input_audio_transcription.logprobs']}),
      'invalid_value',
      'session.include',
    ],
    ['another model', transcribing({model: 'gpt-9'}), 'model_not_found', `${place}.transcription.model`],
    ['another language', transcribing({language: 'de'}), 'invalid_value', `${place}.transcription.language`],
  ]
  it('answers invalid events with an error that names the field, and changes nothing', async () => {
    const peer = new Peer(client)
    const before = await peer.next('session.created')
    for (const [n, [what, event, code, param, message = /./]] of invalid.entries()) {
      peer.socket.send(typeof event === 'string' ? event : JSON.stringify({...event, event_id: what}))
      const {error} = await peer.next('error', n + 1)
      assert.deepEqual(
        [error.type, error.code, error.param ?? null, error.event_id],
        ['invalid_request_error', code, param, typeof event === 'string' ? null : what],
        what,
      )
      assert.match(error.message, message)
    }
    assert.deepEqual(new Set(invalid.map(([, , code]) => code)), new Set(Object.keys(realtimeErrors)))
    peer.send(update({type: 'transcription'}))
    assert.deepEqual((await peer.next('session.updated')).session, before.session)
    peer.socket.close(1000)
  })

  it('accepts or refuses every field of the official client', () => {
    type Paths<T> = T extends readonly unknown[]
      ? never
      : T extends object
        ? {[K in keyof T & string]-?: K | `${K}.${Paths<NonNullable<T[K]>>}`}[keyof T & string]
        : never
    // A field that a later version of the client adds is an error of the compiler here.
    const refused = {
      'session.audio.input.noise_reduction.type': true,
      'session.audio.input.transcription.delay': true,
      'session.audio.input.turn_detection.eagerness': true,
    } satisfies Record<
      Exclude<`session.${Paths<RealtimeTranscriptionSessionCreateRequest>}`, (typeof realtimeFields)[number]['path']>,
      true
    >
    for (const path of Object.keys(refused)) assert.ok(realtimeFields.every((field) => field.path !== path))
  })

  it('requires the token, also as a subprotocol of browsers', async () => {
    const guarded = await start({token: 'a-long-enough-token'})
    assert.equal(await new Peer(guarded).refused, 401)
    const peer = new Peer(guarded, '', ['realtime', 'openai-insecure-api-key.a-long-enough-token'])
    await peer.next('session.created')
    assert.equal(peer.socket.protocol, 'realtime')
    peer.socket.close(1000)
  })

  it('refuses other intents and models, unknown sessions and foreign pages', async () => {
    assert.equal(await new Peer(client, '?intent=conversation').refused, 400)
    assert.equal(await new Peer(client, '?model=gpt-realtime').refused, 404)
    assert.equal(await new Peer(client, '?session=speech-1').refused, 404)
    assert.equal(await new Peer(client, '', [], {origin: 'https://evil.example'}).refused, 403)
  })
})
