import assert from 'node:assert/strict'
import {before, describe, it} from 'node:test'
import OpenAI from 'openai'
import {OpenAIRealtimeWS} from 'openai/realtime/ws'
import type {RealtimeServerEvent} from 'openai/resources/realtime/realtime'
import WebSocket from 'ws'
import {resampler} from '../../src/audio/index.js'
import {Sessions} from '../../src/speech-server/index.js'
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
    assert.deepEqual(peer.of('input_audio_buffer.speech_stopped'), [])
    peer.append(audio)
    peer.send({type: 'input_audio_buffer.clear'})
    await peer.next('input_audio_buffer.cleared')
    peer.send({type: 'input_audio_buffer.commit', event_id: 'mine'})
    const {error} = await peer.next('error')
    assert.deepEqual([error.type, error.event_id], ['invalid_request_error', 'mine'])
    peer.socket.close(1000)
  })

  it('works with the official client, which requires TLS', async () => {
    const {cert, key} = selfSigned()
    const secure = await start({tls: {cert, key, minVersion: '1.2'}})
    const openai = new OpenAI({apiKey: 'none', baseURL: `${secure.server.baseUrl}/v1`})
    const realtime = new OpenAIRealtimeWS({model: 'whisper-1', options: {ca: cert}}, openai)
    const done = new Promise<string>((resolve, reject) => {
      realtime.on('error', reject)
      realtime.on(completed, ({transcript}) => resolve(transcript))
    })
    realtime.on('session.created', () => {
      realtime.send({
        type: 'session.update',
        session: {type: 'transcription', audio: {input: {transcription: {model: 'whisper-1'}}}},
      })
      realtime.send({type: 'input_audio_buffer.append', audio: sound.toString('base64')})
      realtime.send({type: 'input_audio_buffer.commit'})
    })
    assert.equal(await done, helloText)
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

  const invalid: [string, object | string, string | null][] = [
    ['JSON', 'nonsense', null],
    ['an unknown event', {type: 'response.create'}, 'type'],
    ['audio that is not base64', {type: 'input_audio_buffer.append', audio: '§'}, 'audio'],
    ['audio that ends within a sample', {type: 'input_audio_buffer.append', audio: 'AAAA'}, 'audio'],
    ['a commit without audio', {type: 'input_audio_buffer.commit'}, 'input_audio_buffer'],
    ['a conversation session', {type: 'session.update', session: {type: 'realtime'}}, 'session.type'],
    [
      'an unknown format',
      {type: 'session.update', session: {audio: {input: {format: {type: 'audio/opus'}}}}},
      'session.audio.input.format.type',
    ],
    [
      'another rate',
      {type: 'session.update', session: {audio: {input: {format: {type: 'audio/pcm', rate: 7}}}}},
      'session.audio.input.format.rate',
    ],
    [
      'semantic turn detection',
      {type: 'session.update', session: {audio: {input: {turn_detection: {type: 'semantic_vad'}}}}},
      'session.audio.input.turn_detection.type',
    ],
    [
      'noise reduction',
      {type: 'session.update', session: {audio: {input: {noise_reduction: {type: 'near_field'}}}}},
      'session.audio.input.noise_reduction',
    ],
    [
      'log-probabilities',
      {type: 'session.update', session: {include: ['item.input_audio_transcription.logprobs']}},
      'session.include',
    ],
    ['another model', {type: 'session.update', session: {audio: {input: {transcription: {model: 'gpt-9'}}}}}, 'model'],
  ]
  for (const [what, event, param] of invalid)
    it(`answers ${what} with an error, and goes on`, async () => {
      const peer = new Peer(client)
      await peer.next('session.created')
      peer.socket.send(typeof event === 'string' ? event : JSON.stringify({...event, event_id: 'mine'}))
      const {error} = await peer.next('error')
      assert.deepEqual(
        [error.type, error.param ?? null, error.event_id],
        ['invalid_request_error', param, typeof event === 'string' ? null : 'mine'],
      )
      peer.send({type: 'session.update', session: {type: 'transcription'}})
      await peer.next('session.updated')
      peer.socket.close(1000)
    })

  it('requires the token, also as a subprotocol of browsers', async () => {
    const guarded = await start({token: 'a-long-enough-token'})
    assert.equal(await new Peer(guarded).refused, 401)
    const peer = new Peer(guarded, '', ['realtime', 'openai-insecure-api-key.a-long-enough-token'])
    await peer.next('session.created')
    assert.equal(peer.socket.protocol, 'realtime')
    peer.socket.close(1000)
  })

  it('refuses other intents, unknown sessions and foreign pages', async () => {
    assert.equal(await new Peer(client, '?intent=conversation').refused, 400)
    assert.equal(await new Peer(client, '?session=speech-1').refused, 404)
    assert.equal(await new Peer(client, '', [], {origin: 'https://evil.example'}).refused, 403)
  })
})
