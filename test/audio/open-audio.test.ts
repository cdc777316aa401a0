import assert from 'node:assert/strict'
import {chmod, readdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {PassThrough} from 'node:stream'
import {describe, it, type TestContext} from 'node:test'
import {isAudioFile, openAudio} from '../../src/audio/index.js'
import {ffmpeg, skipWithoutFfmpeg} from '../support/ffmpeg.js'
import {projectFile, sharedData, skipWithout} from '../support/project.js'
import {joined, sine, sumOf, whiteNoise} from '../support/sounds.js'
import {temporaryFolder} from '../support/temporary.js'
import {until} from '../support/until.js'
import {monoWave, type WaveFile, waveFile} from '../support/wave-file.js'
import {decode, difference, frequency, fromBytes, patched, tones} from './support/decode.js'

async function fileOf(test: TestContext, bytes: Uint8Array, name = 'recording.wav'): Promise<string> {
  const path = join(await temporaryFolder(test), name)
  await writeFile(path, bytes)
  return path
}

const second = sine(440, 16_000)

const weighted = (parts: readonly Float32Array[], weights: readonly number[]): Float32Array =>
  parts.reduce<Float32Array>(
    (sum, part, i) =>
      sumOf(
        sum,
        part.map((x) => x * (weights[i] ?? 0)),
      ),
    new Float32Array(parts[0]?.length ?? 0),
  )

/** Masks of loudspeakers, and the weights of their channels that ffmpeg 5.1 uses for a mono mix of 16-bit samples. */
const mixes = [
  [0x3, 0.5, 0.5],
  [0x7, 0.2929, 0.2929, 0.4142],
  [0xb, 0.5, 0.5, 0],
  [0x33, 0.2929, 0.2929, 0.2071, 0.2071],
  [0x603, 0.2929, 0.2929, 0.2071, 0.2071],
  [0x107, 0.2427, 0.2427, 0.3431, 0.1716],
  [0x37, 0.2071, 0.2071, 0.2929, 0.1465, 0.1465],
  [0x3f, 0.2071, 0.2071, 0.2929, 0, 0.1465, 0.1465],
  [0x60f, 0.2071, 0.2071, 0.2929, 0, 0.1465, 0.1465],
  [0x70f, 0.1807, 0.1807, 0.2555, 0, 0.1277, 0.1277, 0.1277],
  [0x63f, 0.1602, 0.1602, 0.2266, 0, 0.1133, 0.1133, 0.1133, 0.1133],
  [0xff, 0.1465, 0.1465, 0.2071, 0, 0.1036, 0.1036, 0.1465, 0.1465],
] as const

describe('a WAV file', () => {
  const precision = {u8: 0.01, s16le: 1e-4, s24le: 1e-6, s32le: 1e-7, f32le: 1e-7, f64le: 1e-7}
  for (const [encoding, error] of Object.entries(precision) as [WaveFile['encoding'], number][])
    for (const extensible of [false, true])
      it(`decodes ${encoding}${extensible ? ' with an extensible header' : ''}`, async () => {
        const {sound, source, durationSec, warnings} = await decode(fromBytes(monoWave(second, {encoding, extensible})))
        assert.ok(difference(sound, second, 0) <= error)
        assert.deepEqual(source, {container: 'wav', codec: `pcm_${encoding}`, sampleRate: 16_000, channels: 1})
        assert.equal(durationSec, 1)
        assert.deepEqual(warnings, [])
      })

  for (const encoding of Object.keys(precision) as WaveFile['encoding'][])
    for (const extensible of [false, true])
      it(`decodes big-endian ${encoding}${extensible ? ' with an extensible header' : ''}`, async () => {
        const {sound, source, warnings} = await decode(
          fromBytes(waveFile({channels: [second, second], sampleRate: 16_000, encoding, extensible, rifx: true})),
        )
        assert.ok(difference(sound, second, 0) <= precision[encoding as keyof typeof precision])
        assert.deepEqual(source.codec, `pcm_${encoding.replace('le', 'be')}`)
        assert.deepEqual(warnings, [])
      })

  it('is clipped at full scale', async () => {
    const {sound} = await decode(fromBytes(monoWave(sine(440, 16_000, {level: 3}), {encoding: 'f32le'})))
    assert.deepEqual([Math.max(...sound), Math.min(...sound)], [1, -1])
  })

  for (const rate of [8000, 11_025, 22_050, 32_000, 44_100, 48_000, 96_000, 192_000])
    it(`is resampled from ${rate} Hz without a delay and with the same duration`, async () => {
      const {sound} = await decode(fromBytes(monoWave(sine(440, rate, {rate}), {sampleRate: rate, encoding: 'f32le'})))
      assert.ok(difference(sound, second) < 1e-4)
    })

  for (let channels = 1; channels <= 8; channels++)
    it(`is mixed down to the mean of ${channels} channels without a layout`, async () => {
      const parts = tones(channels)
      const {sound} = await decode(
        fromBytes(waveFile({channels: parts, sampleRate: 16_000, encoding: channels % 2 ? 's24le' : 's16le'})),
      )
      assert.ok(difference(sound, weighted(parts, Array(channels).fill(1 / channels)), 0) < 1e-4)
    })

  for (const [mask, ...weights] of mixes)
    it(`is mixed down by its mask ${mask.toString(16)}, as ffmpeg -ac 1 does`, async () => {
      const parts = tones(weights.length)
      const bytes = waveFile({channels: parts, sampleRate: 16_000, encoding: 's16le', extensible: true, mask})
      assert.ok(difference((await decode(fromBytes(bytes))).sound, weighted(parts, weights), 0) < 2e-4)
    })

  it('may be RF64, or have other chunks before and after the data', async () => {
    const before = {JUNK: Buffer.alloc(27), LIST: Buffer.from('INFOsoft')}
    const after = Buffer.from('LIST\x04\0\0\0more')
    for (const changes of [{rf64: true}, {before}, {after}, {rf64: true, before, after}]) {
      const {sound, warnings} = await decode(fromBytes(monoWave(second, changes)))
      assert.ok(difference(sound, second, 0) < 1e-4)
      assert.deepEqual(warnings, [])
    }
  })

  for (const [what, dataBytes] of Object.entries({
    'the maximum': 0xffff_ffff,
    zero: 0,
    'the size that writers to a pipe use': 0x7fff_f800,
  }))
    it(`is read to its end if the declared size is ${what}`, async () => {
      const {sound, durationSec, warnings} = await decode(fromBytes(monoWave(second, {dataBytes})))
      assert.equal(sound.length, second.length)
      assert.equal(durationSec, undefined)
      assert.deepEqual(warnings, [])
    })

  it('is decoded with a warning if it is shorter than declared', async (test) => {
    const path = await fileOf(test, monoWave(second, {dataBytes: 320_000}))
    const {sound, durationSec, warnings} = await decode({path})
    assert.equal(sound.length, second.length)
    assert.ok((durationSec ?? 0) < 1.1)
    assert.deepEqual(warnings, ['audio_truncated'])
  })

  it('loses only an incomplete last frame', async () => {
    const bytes = waveFile({channels: [second, second], sampleRate: 16_000, encoding: 's24le'})
    const {sound} = await decode(fromBytes(bytes.subarray(0, bytes.length - 2)))
    assert.equal(sound.length, second.length - 1)
  })

  it('replaces non-finite samples with silence, with one warning', async () => {
    const broken = second.map((x, i) => (i === 100 ? Number.NaN : i === 9000 ? Infinity : x))
    const {sound, warnings} = await decode(fromBytes(monoWave(broken, {encoding: 'f32le'})))
    assert.deepEqual([sound[100], sound[9000], sound[101] === second[101]], [0, 0, true])
    assert.deepEqual(warnings, ['audio_not_finite'])
  })

  it('is decoded to the same samples for any chunk size', async () => {
    const short = second.subarray(0, 1470)
    const bytes = waveFile({channels: [short, short], sampleRate: 44_100, encoding: 's24le'})
    const whole = (await decode(fromBytes(bytes, bytes.length))).sound
    for (const size of [1, 7, 1000]) assert.deepEqual((await decode(fromBytes(bytes, size))).sound, whole)
  })

  it('is returned in chunks of at most 1 s', async () => {
    const {pieces: parts} = await decode(fromBytes(monoWave(sine(440, 80_000)), 200_000))
    assert.ok(parts.length >= 5 && parts.every(({length}) => length <= 16_000))
  })

  const nonsense: Record<string, (file: Buffer) => Buffer> = {
    'no channels': (file) => patched(file, 22, 0),
    'too many channels': (file) => patched(file, 22, 999),
    'no sample rate': (file) => patched(file, 24, 0),
    'more bits than bytes': (file) => patched(file, 34, 64),
    'no format': (file) => Buffer.concat([file.subarray(0, 12), file.subarray(36)]),
    'no data': (file) => file.subarray(0, 36),
    'half a header': (file) => file.subarray(0, 20),
  }
  for (const [what, damage] of Object.entries(nonsense))
    it(`is rejected if its header has ${what}`, async () => {
      await assert.rejects(decode(fromBytes(damage(monoWave(second)))), {code: 'audio_invalid'})
    })

  it('is reported as empty if it has no samples', async () => {
    await assert.rejects(decode(fromBytes(monoWave(new Float32Array()))), {code: 'audio_empty'})
    const list = monoWave(new Float32Array(), {after: Buffer.from('LIST\x04\0\0\0more')})
    await assert.rejects(decode(fromBytes(list)), {code: 'audio_empty'})
  })
})

describe('a WAV file with another codec', () => {
  for (const [codec, encode] of [
    ['alaw', 'toALaw'],
    ['mulaw', 'toMuLaw'],
  ] as const)
    it(`is expanded: ${codec}`, async () => {
      const {WaveFile} = (await import('wavefile')).default
      const sound = sine(300, 16_000, {rate: 8000})
      const file = new WaveFile()
      file.fromScratch(
        1,
        8000,
        '16',
        Int16Array.from(sound, (x) => Math.round(32_767 * x)),
      )
      file[encode]()
      const decoded = await decode(fromBytes(file.toBuffer()), 8000)
      assert.ok(difference(decoded.sound, sound, 0) < 0.02)
      assert.equal(decoded.source.codec, `pcm_${codec}`)
    })

  it('is decoded: IMA ADPCM, both channels', async () => {
    const {sound, source} = await decode({path: projectFile('test/fixtures/audio/tone-ima.wav')}, 8000)
    assert.deepEqual([source.codec, source.channels], ['adpcm_ima_wav', 2])
    // The encoder needs some samples to adapt its step size.
    const middle = sound.subarray(200, 1900)
    const tone = sine(440, 2100, {rate: 8000, level: 10 ** (-6 / 20)}).subarray(200, 1900)
    assert.ok(difference(middle, tone, 0) < 0.05)
  })
})

describe('a stereo recording whose channels have opposite phase', () => {
  const stereo = (left: Float32Array, right: Float32Array) =>
    waveFile({channels: [left, right], sampleRate: 16_000, encoding: 's16le'})
  const noise = (seed: number) => whiteNoise(16_000, seed).map((x) => 0.1 * x)

  it('is decoded from its first channel, with a warning', async () => {
    const {sound, warnings} = await decode(
      fromBytes(
        stereo(
          second,
          second.map((x) => -x),
        ),
      ),
    )
    assert.ok(difference(sound, second, 0) < 1e-4)
    assert.deepEqual(warnings, ['channels_opposite'])
  })

  it('is mixed again where the phases are equal', async () => {
    const opposite = joined([second.map((x) => -x), second, second])
    const {sound, warnings} = await decode(fromBytes(stereo(joined([second, second, second]), opposite)))
    assert.ok(difference(sound, joined([second, second, second]), 0) < 1e-4)
    assert.deepEqual(warnings, ['channels_opposite'])
  })

  for (const [what, left, right] of [
    ['equal', second, second],
    ['independent', noise(1), noise(2)],
    ['one silent', second, new Float32Array(16_000)],
    ['both silent', new Float32Array(16_000), new Float32Array(16_000)],
    [
      'a quarter period apart',
      second,
      Float32Array.from(second, (_, i) => 0.5 * Math.cos((880 * Math.PI * i) / 16_000)),
    ],
  ] as const)
    it(`is mixed without a warning if they do not: ${what}`, async () => {
      const {sound, warnings} = await decode(fromBytes(stereo(left, right)))
      assert.ok(difference(sound, weighted([left, right], [0.5, 0.5]), 0) < 1e-4)
      assert.deepEqual(warnings, [])
    })

  it('keeps each channel if it is selected', async () => {
    const bytes = stereo(
      second,
      second.map((x) => -x),
    )
    for (const [channel, sign] of [
      [1, 1],
      [2, -1],
    ] as const) {
      const {sound, warnings} = await decode(fromBytes(bytes), 16_000, channel)
      assert.ok(
        difference(
          sound,
          second.map((x) => sign * x),
          0,
        ) < 1e-4,
      )
      assert.deepEqual(warnings, [])
    }
  })
})

describe('raw samples', () => {
  it('are decoded in the given format', async () => {
    const bytes = Buffer.from(Int16Array.from(second, (x) => Math.round(32_767 * x)).buffer)
    const {sound, source} = await decode(fromBytes(bytes, 777, {encoding: 's16le', sampleRate: 16_000, channels: 1}))
    assert.ok(difference(sound, second, 0) < 1e-4)
    assert.equal(source.container, 'raw')
  })

  it('are reported as empty if there are none', async () => {
    const raw = {encoding: 'f32le', sampleRate: 16_000, channels: 1} as const
    await assert.rejects(decode(fromBytes(new Uint8Array(), 1, raw)), {code: 'audio_empty'})
  })
})

describe('one channel of a recording', () => {
  const [left, right] = [sine(300, 16_000), sine(500, 16_000, {level: 0.3})]
  const stereo = waveFile({channels: [left, right], sampleRate: 16_000, encoding: 's16le'})

  it('is decoded from WAV and from raw samples', async () => {
    const raw = {encoding: 's16le', sampleRate: 16_000, channels: 2} as const
    for (const input of [() => fromBytes(stereo), () => fromBytes(stereo.subarray(44), 4096, raw)])
      for (const [i, expected] of [left, right].entries()) {
        const {sound, source} = await decode(input(), 16_000, i + 1)
        assert.ok(difference(sound, expected, 0) < 1e-4)
        assert.equal(source.channels, 2)
      }
  })

  it('is decoded from IMA ADPCM and A-law, so that the mix is the mean of the channels', async () => {
    const {WaveFile} = (await import('wavefile')).default
    const law = new WaveFile(stereo)
    law.toALaw()
    for (const bytes of [await readFile(projectFile('test/fixtures/audio/tone-ima.wav')), law.toBuffer()]) {
      const [mix, first, second] = await Promise.all([undefined, 1, 2].map((n) => decode(fromBytes(bytes), 8000, n)))
      const mean = sumOf(first!.sound, second!.sound).map((x) => x / 2)
      assert.ok(difference(mix!.sound, mean, 0) < 1e-6)
    }
  })

  it('is decoded through ffmpeg and from FLAC', {skip: skipWithoutFfmpeg}, async () => {
    for (const format of ['matroska', 'flac', 'ogg']) {
      const bytes = ffmpeg(stereo, '-c:a', 'flac', '-f', format, 'pipe:1')
      for (const [i, expected] of [left, right].entries())
        assert.ok(difference((await decode(fromBytes(bytes), 16_000, i + 1)).sound, expected, 0) < 1e-4)
    }
  })

  for (const [kind, channels, mode] of [
    ['mono', 1, 0xc0],
    ['stereo', 2, 0],
  ] as const)
    it(`is counted in a ${kind} MP3`, async () => {
      // Silent frames of MPEG 1, layer III: 128 kbit/s at 44.1 kHz.
      const frame = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, mode]), Buffer.alloc(413)])
      const mp3 = Buffer.concat(Array<Buffer>(8).fill(frame))
      assert.equal((await decode(fromBytes(mp3), 16_000, channels)).source.channels, channels)
      await assert.rejects(decode(fromBytes(mp3), 16_000, channels + 1), {code: 'audio_channel_missing'})
    })

  it('is reported if the recording lacks it', async () => {
    await assert.rejects(decode(fromBytes(stereo), 16_000, 3), {
      code: 'audio_channel_missing',
      message: 'standard input has no channel 3: it has 2 channels.',
    })
    await assert.rejects(decode(fromBytes(monoWave(left)), 16_000, 2), {
      message: 'standard input has no channel 2: it is mono.',
    })
  })
})

describe('a compressed recording', () => {
  it('is decoded from FLAC to the same samples as from WAV', {skip: skipWithout('clips/jfk.flac')}, async () => {
    const flac = await decode({path: sharedData('clips/jfk.flac') ?? ''})
    const wave = await decode({path: sharedData('clips/jfk.wav') ?? ''})
    assert.ok(difference(flac.sound, wave.sound) < 0.02)
    assert.deepEqual([flac.source.codec, flac.source.sampleRate, flac.source.channels], ['flac', 44_100, 2])
  })

  it('is decoded from MP3 with its full duration', {skip: skipWithout('clips/multilingual.mp3')}, async () => {
    const {sound, source} = await decode({path: sharedData('clips/multilingual.mp3') ?? ''})
    assert.ok(Math.abs(sound.length / 16_000 - 59.9) < 0.1)
    assert.equal(source.codec, 'mp3')
  })

  for (const name of ['opus', 'vorbis'])
    it(`is decoded from Ogg ${name} to the encoded tone`, async () => {
      const {sound, source} = await decode({path: projectFile(`test/fixtures/audio/tone-${name}.ogg`)})
      assert.equal(source.codec, name)
      assert.ok(Math.abs(sound.length - 8000) < 1200, `${sound.length} samples`)
      assert.ok(Math.abs(frequency(sound.subarray(2000, 6000)) - 440) < 10)
    })

  it('is decoded up to a truncation', {skip: skipWithout('clips/jfk.flac')}, async () => {
    const bytes = await readFile(sharedData('clips/jfk.flac') ?? '')
    const {sound, durationSec, warnings} = await decode(fromBytes(bytes.subarray(0, 600_000)))
    assert.ok(sound.length > 16_000 * 4)
    assert.ok(Math.abs((durationSec ?? 0) - 11) < 0.01, 'the duration is that of the header')
    assert.deepEqual(warnings, ['audio_truncated'])
  })

  for (const name of ['opus', 'vorbis'])
    it(`is decoded from chained Ogg ${name} streams to the end`, async () => {
      const bytes = await readFile(projectFile(`test/fixtures/audio/tone-${name}.ogg`))
      const once = await decode(fromBytes(bytes))
      const twice = await decode(fromBytes(Buffer.concat([bytes, bytes]), 333))
      assert.deepEqual(twice.sound.subarray(0, once.sound.length - 400), once.sound.subarray(0, -400))
      assert.ok(Math.abs(twice.sound.length - 2 * once.sound.length) <= 1)
    })

  it('is rejected if the first Ogg page is invalid', async () => {
    const bytes = await readFile(projectFile('test/fixtures/audio/tone-vorbis.ogg'))
    bytes[36] = 0xff
    await assert.rejects(decode(fromBytes(bytes)), {code: 'audio_invalid'})
  })

  it('is decoded if other bytes are between its pages', async () => {
    const bytes = await readFile(projectFile('test/fixtures/audio/tone-vorbis.ogg'))
    const last = bytes.lastIndexOf('OggS')
    const broken = Buffer.concat([bytes.subarray(0, last), Buffer.alloc(5000, 7), bytes.subarray(last)])
    assert.deepEqual((await decode(fromBytes(broken))).sound, (await decode(fromBytes(bytes))).sound)
  })

  it('is rejected if it has no valid frame', async () => {
    const bytes = Buffer.concat([Buffer.from('fLaC'), Buffer.alloc(5000, 7)])
    await assert.rejects(decode(fromBytes(bytes)), {code: 'audio_invalid'})
  })
})

describe('an input that is not audio', () => {
  const contents: Record<string, {bytes: Uint8Array | string; found: RegExp}> = {
    text: {bytes: 'Dear diary, today I wrote a test.', found: /looks like text/},
    JSON: {bytes: '{"a": 1}', found: /JSON/},
    'an HTML page': {bytes: '<!doctype html><p>Not found', found: /HTML/},
    'an image': {bytes: Buffer.from('89504e470d0a1a0a0000', 'hex'), found: /PNG/},
    'random bytes': {
      bytes: Uint8Array.from({length: 600}, (_, i) => (i * 89 + 3) % 251),
      found: /an unknown binary format/,
    },
  }
  for (const [what, {bytes, found}] of Object.entries(contents))
    it(`is rejected by its content, regardless of its name: ${what}`, async (test) => {
      const path = await fileOf(test, Buffer.from(bytes))
      await assert.rejects(decode({path}), (error: Error & {code: string}) => {
        assert.equal(error.code, 'audio_unrecognized')
        assert.match(error.message, found)
        return true
      })
    })

  it('is reported if it is an empty file, a folder or missing', async (test) => {
    await assert.rejects(decode({path: await fileOf(test, Buffer.alloc(0))}), {code: 'audio_empty'})
    await assert.rejects(decode({path: await temporaryFolder(test)}), {code: 'file_unreadable'})
    await assert.rejects(decode({path: '/nowhere/at/all.wav'}), {code: 'file_not_found'})
  })

  it('is reported if permission is denied', async (test) => {
    const path = await fileOf(test, monoWave(second))
    await chmod(path, 0)
    // Root can read every file, so the test drops its privileges.
    const root = process.geteuid?.() === 0
    if (root) process.seteuid?.(65_534)
    try {
      await assert.rejects(decode({path}), {code: 'file_unreadable'})
    } finally {
      if (root) process.seteuid?.(0)
    }
  })
})

describe('a recording that is not read to its end', () => {
  const descriptors = () => readdir('/proc/self/fd').then(({length}) => length)
  const skip = process.platform !== 'linux' && 'needs /proc'

  it('is closed', {skip}, async (test) => {
    const path = await fileOf(test, monoWave(sine(440, 300_000)))
    const before = await descriptors()
    for (let i = 0; i < 5; i++) for await (const _ of await openAudio({path}, {sampleRate: 16_000})) break
    for (let i = 0; i < 5; i++) await (await openAudio({path}, {sampleRate: 16_000}))[Symbol.asyncIterator]().return?.()
    for (let i = 0; i < 5; i++) await assert.rejects(decode({path: await fileOf(test, Buffer.from('text, no sound'))}))
    await until(async () => (await descriptors()) <= before + 1, 'the recordings are closed')
  })

  for (const [what, bytes] of Object.entries({
    'before the first byte': Buffer.alloc(0),
    'after the header': monoWave(second).subarray(0, 44),
    'after some samples': monoWave(sine(440, 40_000), {dataBytes: 1_000_000}),
  }))
    it(`can be aborted while its stream waits, ${what}`, async () => {
      const stop = new AbortController()
      const stream = new PassThrough()
      if (bytes.length > 0) stream.write(bytes)
      const reading = (async () => {
        for await (const _ of await openAudio({name: 'a pipe', stream}, {sampleRate: 16_000, signal: stop.signal}));
      })()
      setImmediate(() => stop.abort(new Error('enough')))
      await assert.rejects(reading, {message: 'enough'})
      assert.ok(stream.destroyed)
    })

  it('rejects with the reason of the signal', async () => {
    const stop = new AbortController()
    const reason = new Error('enough')
    const audio = await openAudio(fromBytes(monoWave(sine(440, 320_000))), {sampleRate: 16_000, signal: stop.signal})
    await assert.rejects(
      (async () => {
        for await (const _ of audio) stop.abort(reason)
      })(),
      reason,
    )
  })
})

describe('a recording whose signal aborts while it is opened', () => {
  it('is rejected with the reason, and leaves no unhandled error', async (t) => {
    const path = join(await temporaryFolder(t), 'a.wav')
    await writeFile(path, monoWave(sine(440, 16_000)))
    const stop = new AbortController()
    const opening = openAudio({path}, {sampleRate: 16_000, signal: stop.signal})
    const reason = new Error('enough')
    stop.abort(reason)
    await assert.rejects(opening, reason)
  })
})

describe('isAudioFile', () => {
  for (const name of ['a.wav', 'B.FLAC', 'x/y.mp3', 'film.mkv', 'voice.ogg'])
    it(`accepts ${name}`, () => assert.equal(isAudioFile(name), true))
  for (const name of ['a.txt', '.hidden.wav', 'wav', 'a.wav.part'])
    it(`rejects ${name}`, () => assert.equal(isAudioFile(name), false))
})
