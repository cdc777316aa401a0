import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {before, describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {contractViolations} from '../../src/contracts/index.js'
import {sharedData, skipWithout} from '../support/project.js'
import {until} from '../support/until.js'
import {type Client, defaultSettings, hello, helloText, type Live, pcmOf, speechSuite} from './support.js'

const {service, start, withSettings} = speechSuite()
let client: Client
let sound: Buffer
before(async () => {
  client = await start()
  sound = await pcmOf(hello)
})

const silence = (seconds: number) => Buffer.alloc(32_000 * seconds)

/** Sends audio in messages of 100 ms, at its own speed or at once. */
async function speak({socket}: Live, audio: Buffer, {realtime = false, bytes = 3200} = {}): Promise<void> {
  for (let at = 0; at < audio.length; at += bytes) {
    socket.send(audio.subarray(at, at + bytes))
    if (realtime) await sleep(100)
  }
}

/** Settings that limit the audio of an utterance, but not the time to recognise it, which the same setting limits by default. */
const longestUtterance = (maxDurationMs: number) => ({
  session: {...defaultSettings.session, captureTimeoutMs: 0, maxDurationMs, inferenceDeadlineMs: 600_000},
})

describe('a live connection', () => {
  it('sends ready, growing partials, and one final that equals the offline transcript', async () => {
    const live = client.live()
    const ready = await live.next('ready')
    assert.deepEqual([ready.sample_rate_hz, ready.input_format], [16_000, 'pcm_s16le_mono'])
    const half = 3200 * Math.floor(sound.length / 6400)
    await speak(live, sound.subarray(0, half), {realtime: true})
    // The rest follows when a part has been recognised, so there is always a partial result.
    await until(() => live.ofType('partial').length > 0, 'a partial result')
    await speak(live, sound.subarray(half), {realtime: true})
    live.op({op: 'commit'})
    assert.deepEqual(await live.closed, {code: 1000, reason: ''})
    const partials = live.ofType('partial')
    assert.deepEqual(
      partials.map(({seq}) => seq),
      partials.map((_, i) => i + 1),
    )
    let stable = ''
    for (const partial of partials) {
      assert.ok(partial.stable_text.startsWith(stable), `${partial.stable_text} continues ${stable}`)
      assert.ok(partial.text.startsWith(partial.stable_text))
      stable = partial.stable_text
    }
    const {
      type,
      text,
      deadline_diagnostics: diagnostics,
    } = live.events.at(-1) as ReturnType<typeof live.ofType<'final'>>[0]
    assert.deepEqual([type, text], ['final', helloText])
    assert.deepEqual(
      diagnostics.map(({phase, taxonomy}) => [phase, taxonomy]),
      [['transcribe', 'ok']],
    )
    assert.equal(live.events[0]?.type, 'ready')
    assert.equal(new Set(live.events.map((event) => event.correlation_id)).size, 1)
    for (const event of live.events) assert.deepEqual(await contractViolations('speech/event.v1', event), [])
  })

  it('transcribes real speech as offline', {skip: skipWithout('clips/jfk.wav')}, async () => {
    const path = sharedData('clips/jfk.wav') ?? ''
    const live = client.live()
    await live.next('ready')
    await speak(live, await pcmOf(path))
    live.op({op: 'commit'})
    await live.closed
    const {json} = await client.upload([{name: 'file', filename: 'jfk.wav', content: await readFile(path)}])
    assert.deepEqual(
      live.ofType('final').map(({text}) => text),
      [json.text],
    )
  })

  it('joins samples that are split between messages', async () => {
    const live = client.live()
    await live.next('ready')
    await speak(live, sound, {bytes: 1601})
    live.op({op: 'commit'})
    assert.equal((await live.next('final')).text, helloText)
  })

  it('sends an empty final for a commit without audio', async () => {
    const live = client.live()
    live.socket.once('open', () => live.op({op: 'commit'}))
    assert.equal((await live.next('final')).text, '')
    assert.equal((await live.closed).code, 1000)
    assert.deepEqual(
      live.events.map(({type}) => type),
      ['ready', 'final'],
    )
  })

  it('accepts commands before audio, and a language between', async () => {
    const live = client.live()
    await live.next('ready')
    live.op({op: 'set_language', language_hint: 'english'})
    await speak(live, sound.subarray(0, 32_000))
    live.op({op: 'set_language', language_hint: null})
    await speak(live, sound.subarray(32_000))
    live.op({op: 'commit'})
    assert.equal((await live.next('final')).text, helloText)
  })

  it('reports a language that the model does not support or that is none, and keeps the previous one', async () => {
    const live = client.live()
    await live.next('ready')
    const hints = ['german', 'klingon', '%$!', 'x', 'x'.repeat(50)]
    for (const hint of hints) live.op({op: 'set_language', language_hint: hint})
    await until(() => live.ofType('error').length === hints.length, 'an error for each')
    for (const {error, correlation_id: id} of live.ofType('error'))
      assert.deepEqual([error, id], ['unsupported_language', live.events[0]?.correlation_id])
    await speak(live, sound)
    live.op({op: 'commit'})
    assert.equal((await live.next('final')).text, helloText)
  })

  it('cancels', async () => {
    const live = client.live()
    await live.next('ready')
    await speak(live, sound)
    live.op({op: 'cancel'})
    assert.deepEqual(await live.closed, {code: 1000, reason: 'cancelled'})
    assert.deepEqual(live.ofType('final'), [])
    await until(() => service.queue.pending === 0, 'the decoding has ended')
  })

  it('reports invalid messages, and closes after the tenth', async () => {
    const live = client.live()
    await live.next('ready')
    const invalid = [
      '{',
      '[]',
      'null',
      '{}',
      '{"op": 7}',
      '{"op": "stop"}',
      '{"op": "set_language", "language_hint": 7}',
    ]
    for (const message of [...invalid, ...invalid]) live.socket.send(message)
    assert.deepEqual(await live.closed, {code: 1008, reason: 'too many invalid messages'})
    assert.deepEqual(
      live.ofType('error').map(({error}) => error),
      [...invalid, ...invalid.slice(0, 3)].map((message) =>
        message.includes('stop') ? 'unknown_op' : 'invalid_message',
      ),
    )
  })

  it('closes with 1009 after a message of more than 1 MiB, and with 1007 after invalid UTF-8', async () => {
    const large = client.live()
    await large.next('ready')
    large.socket.send(Buffer.alloc((1 << 20) + 1))
    assert.equal((await large.closed).code, 1009)
    const invalid = client.live()
    await invalid.next('ready')
    invalid.socket.send(Buffer.from([0xff, 0xfe]), {binary: false})
    assert.equal((await invalid.closed).code, 1007)
  })

  it('closes with 1009 if the audio exceeds the buffer', async () => {
    await withSettings({live: {...defaultSettings.live, streamMaxBufferMs: 1000}}, async () => {
      const live = client.live()
      await live.next('ready')
      await speak(live, silence(2))
      assert.equal((await live.closed).code, 1009)
      const [failure] = live.ofType('error')
      assert.deepEqual([failure?.error, failure?.max_buffer_ms], ['buffer_overflow', 1000])
    })
  })

  it('fails if no audio arrives, and closes with 1000', async () => {
    await withSettings({session: {...defaultSettings.session, captureTimeoutMs: 50}}, async () => {
      const live = client.live()
      assert.equal((await live.closed).code, 1000)
      const [failure] = live.ofType('error')
      assert.deepEqual([failure?.error, failure?.state], ['speech_capture_timeout', 'failed'])
    })
  })

  it('ends an utterance at its maximum duration as if it was committed', async () => {
    await withSettings(longestUtterance(1500), async () => {
      const live = client.live()
      await live.next('ready')
      await speak(live, sound)
      assert.equal((await live.closed).code, 1000)
      const [final] = live.ofType('final')
      assert.match(final?.text ?? '', /^hello/)
      assert.equal(final?.end_ms, 1500)
    })
  })

  it('reports a deadline that is too short', async () => {
    await withSettings({session: {...defaultSettings.session, inferenceDeadlineMs: 1}}, async () => {
      const live = client.live()
      await live.next('ready')
      await speak(live, sound)
      live.op({op: 'commit'})
      await live.closed
      assert.equal(live.ofType('error')[0]?.error, 'speech_inference_timeout')
    })
  })

  it('sends pings as heartbeats', async () => {
    await withSettings({session: {...defaultSettings.session, heartbeatMs: 20}}, async () => {
      const live = client.live()
      await live.next('ready')
      await until(() => live.pings > 1, 'two pings')
      live.op({op: 'cancel'})
      await live.closed
    })
  })

  it('is cut if the client does not read its events', async () => {
    const live = client.live()
    await live.next('ready')
    live.socket.pause()
    const message = JSON.stringify({op: 'set_language', language_hint: 'german'})
    // Each message is answered by an error, which waits for this client.
    await new Promise<void>((resolve) => {
      live.socket.once('error', () => resolve())
      const more = () => {
        if (live.socket.readyState !== live.socket.OPEN) return resolve()
        for (let i = 0; i < 1000; i++) live.socket.send(message)
        setImmediate(more)
      }
      more()
    })
    live.socket.resume()
    assert.equal((await live.closed).code, 1006)
  })

  it('ends with its client', async () => {
    const live = client.live()
    await live.next('ready')
    await speak(live, sound)
    live.op({op: 'commit'})
    live.socket.terminate()
    const sessions = async () => /^svc_speech_sessions (\d+)$/m.exec((await client.send('/metrics')).text)?.[1]
    await until(async () => service.queue.pending === 0 && (await sessions()) === '0', 'the session has ended')
    assert.equal((await client.post({path: 'hello.wav'})).json.text, helloText)
  })
})

describe('a continuous connection', () => {
  it('ends each utterance after a pause or by a commit, and stays open', async () => {
    const live = client.live('?continuous=1')
    await live.next('ready')
    await speak(live, Buffer.concat([sound, silence(1)]))
    await until(() => live.ofType('final').length === 1, 'the first final')
    await speak(live, sound)
    live.op({op: 'commit'})
    await until(() => live.ofType('final').length === 2, 'the second final')
    assert.deepEqual(
      live.ofType('final').map(({text}) => text),
      [helloText, helloText],
    )
    live.op({op: 'cancel'})
    assert.equal((await live.closed).code, 1000)
  })

  it('counts limits per utterance', async () => {
    await withSettings(longestUtterance(3000), async () => {
      const live = client.live('?continuous=1')
      await live.next('ready')
      for (let i = 0; i < 3; i++) await speak(live, Buffer.concat([sound, silence(1)]))
      await until(() => live.ofType('final').length >= 3, 'three finals')
      assert.deepEqual(live.ofType('error'), [])
      live.op({op: 'cancel'})
      await live.closed
    })
  })
})

describe('a live connection is refused', () => {
  it('without the token, which a browser sends as a subprotocol', async () => {
    const token = 'sesame-sesame-sesame'
    const secured = await start({token})
    assert.equal(await secured.live().refused, 401)
    assert.equal(await secured.live('', {}, ['bearer.wrong']).refused, 401)
    for (const [offered, selected] of [
      [[`bearer.${token}`], `bearer.${token}`],
      [['svc', `bearer.${token}`], 'svc'],
    ] as const) {
      const live = secured.live('', {}, [...offered])
      await live.next('ready')
      assert.equal(live.socket.protocol, selected)
      live.op({op: 'cancel'})
      await live.closed
    }
    const live = secured.live('', {headers: {authorization: `Bearer ${token}`}})
    await live.next('ready')
    live.op({op: 'cancel'})
    await live.closed
  })

  it('from pages of other origins and for foreign hosts', async () => {
    assert.equal(await client.live('', {origin: 'https://evil.example'}).refused, 403)
    assert.equal(await client.live('', {headers: {host: 'evil.example'}}).refused, 403)
  })

  it('without an upgrade', async () => {
    const {status, json} = await client.send('/api/audio/transcribe/stream')
    assert.deepEqual([status, json.error], [400, 'bad_request'])
  })

  it('with a language that the model does not support or that is none, and the connection is closed', async () => {
    for (const hint of ['german', 'klingon', '%25%21']) {
      const {status, body, connection} = await client.live(`?language_hint=${hint}`).refusal
      assert.deepEqual([status, JSON.parse(body).error, connection], [400, 'unsupported_language', 'close'])
    }
    const live = client.live('?language_hint=english')
    await live.next('ready')
    live.op({op: 'cancel'})
    await live.closed
  })

  it('while too many requests wait', async () => {
    let release = () => {}
    const held = Array.from({length: 17}, () =>
      service.queue.count(
        () =>
          new Promise<void>((resolve) => {
            const previous = release
            release = () => {
              previous()
              resolve()
            }
          }),
      ),
    )
    assert.equal(await client.live().refused, 503)
    release()
    await Promise.all(held)
  })

  it('if 32 are open', async () => {
    const open = Array.from({length: 32}, () => client.live())
    await Promise.all(open.map((live) => live.next('ready')))
    assert.equal(await client.live().refused, 503)
    for (const live of open) live.op({op: 'cancel'})
    await Promise.all(open.map((live) => live.closed))
  })
})

describe('a speech server that stops', () => {
  it('closes live connections with 1012', async () => {
    const stopping = await start()
    const live = stopping.live()
    await live.next('ready')
    const refused = stopping.live('', {origin: 'https://evil.example'})
    await refused.refused
    await stopping.server.close(5000)
    assert.equal((await live.closed).code, 1012)
  })
})
