import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {Readable} from 'node:stream'
import {describe, it} from 'node:test'
import {ByteReader} from '../../src/audio/byte-reader.js'
import {type AudioWarning, openAudio} from '../../src/audio/index.js'
import {oggUnits} from '../../src/audio/ogg-units.js'
import {opusDecoder, type PacketDecoder, vorbisDecoder} from '../../src/audio/packet-decoders.js'
import {flacFile, flacFrameSamples} from '../support/flac-file.js'
import {mp3Frame, mp3Frames, mp3Info} from '../support/mp3-file.js'
import {oggPage} from '../support/ogg-page.js'
import {projectFile} from '../support/project.js'
import {collect, joined, sine} from '../support/sounds.js'

async function decode(bytes: Uint8Array, sampleRate: number) {
  const warnings: AudioWarning[] = []
  const stream = Readable.from([bytes])
  const audio = await openAudio(
    {name: 'a recording', stream},
    {sampleRate, onWarning: (warning) => warnings.push(warning)},
  )
  const sound = joined(await collect(audio))
  return {sound, codes: warnings.map(({code}) => code), messages: warnings.map(({message}) => message)}
}

function flipped(bytes: Uint8Array, ...places: number[]): Buffer {
  const copy = Buffer.from(bytes)
  for (const at of places) copy[at]! ^= 0x55
  return copy
}

const without = (bytes: Buffer, from: number, to: number) =>
  Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)])
const within = (bytes: Buffer, at: number, more: Uint8Array) =>
  Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)])

/** Asserts that nothing is written to the console: one decoder library does so on its own. */
async function withoutNoise<T>(run: () => Promise<T>): Promise<T> {
  const {error} = console
  const lines: unknown[] = []
  console.error = (...line: unknown[]) => lines.push(line)
  try {
    const result = await run()
    assert.deepEqual(lines, [])
    return result
  } finally {
    console.error = error
  }
}

describe('a damaged FLAC file', () => {
  const tone = sine(440, 20 * flacFrameSamples + 1000)
  const {bytes, frames} = flacFile(tone)
  const frameAt = (index: number) => 42 + index * (frames[0] as Buffer).length

  /** Indexes of the frames that do not contain the tone; they must be silent. */
  function silentFrames(sound: Float32Array): number[] {
    assert.equal(sound.length, tone.length)
    return frames.flatMap((_, index) => {
      const [from, to] = [index * flacFrameSamples, (index + 1) * flacFrameSamples]
      const heard = sound.subarray(from, to)
      if (heard.every((x) => x === 0)) return [index]
      assert.ok(heard.every((x, i) => Math.abs(x - tone[from + i]!) < 1e-4))
      return []
    })
  }

  it('decodes without a warning if nothing is damaged', async () => {
    const {sound, codes} = await decode(bytes, 16_000)
    assert.deepEqual([silentFrames(sound), codes], [[], []])
  })

  it('replaces the frame with a flipped byte with silence, and keeps the time of all others', async () => {
    const {sound, messages} = await withoutNoise(() => decode(flipped(bytes, frameAt(7) + 3000), 16_000))
    assert.deepEqual(silentFrames(sound), [7])
    assert.deepEqual(messages, ['a recording is damaged: 0.26 s could not be decoded and were replaced with silence.'])
  })

  const damages: Record<string, {damage: (file: Buffer) => Buffer; lost: number[]}> = {
    'in the header of a frame': {damage: (file) => flipped(file, frameAt(7) + 2), lost: [7]},
    'in the sync code of a frame': {damage: (file) => flipped(file, frameAt(7)), lost: [6, 7]},
    'in two frames': {damage: (file) => flipped(file, frameAt(3) + 9, frameAt(15) + 100), lost: [3, 15]},
    'in the first frame': {damage: (file) => flipped(file, frameAt(0) + 20), lost: [0]},
    'by missing bytes': {damage: (file) => without(file, frameAt(4) + 50, frameAt(6) + 50), lost: [4, 5, 6]},
    'by inserted bytes': {
      damage: (file) => within(file, frameAt(4) + 50, Buffer.alloc(99_999, 0xff)),
      lost: [4],
    },
  }
  for (const [what, {damage, lost}] of Object.entries(damages))
    it(`is silent only in the affected frames if damaged ${what}`, async () => {
      const {sound, codes} = await decode(damage(bytes), 16_000)
      // A frame without a valid end cannot be distinguished from a damaged one.
      assert.deepEqual(
        silentFrames(sound).filter((index) => !lost.includes(index)),
        [],
      )
      assert.deepEqual(codes, ['audio_damaged'])
    })

  it('decodes up to the truncation, with a warning', async () => {
    const {sound, codes} = await decode(bytes.subarray(0, frameAt(5) + 70), 16_000)
    assert.equal(sound.length, 5 * flacFrameSamples)
    assert.deepEqual(codes, ['audio_truncated'])
  })

  it('decodes without a warning if an ID3v1 tag follows', async () => {
    const tag = Buffer.alloc(128)
    tag.write('TAG', 'latin1')
    assert.deepEqual((await decode(Buffer.concat([bytes, tag]), 16_000)).codes, [])
  })

  it('starts without silence if it was cut out of a longer file', async () => {
    const {sound} = await decode(without(bytes, 42, frameAt(10)), 16_000)
    assert.equal(sound.length, tone.length - 10 * flacFrameSamples)
  })
})

/** The tone of a fixture in pages of one packet each, and the position of each packet, samples. */
async function pagesOf({codec, signature, open}: OggCodec): Promise<{pages: Buffer[]; places: number[]}> {
  const file = await readFile(projectFile(`test/fixtures/audio/tone-${codec}.ogg`))
  const context = {name: codec, fileBytes: undefined, warn: () => undefined, live: false, signal: undefined}
  const decoder = await open()
  const pages: Buffer[] = []
  const places: number[] = []
  let granule = 0
  let lead = 0
  for await (const {packets} of oggUnits(new ByteReader(Readable.from([file])), signature, context, () => undefined))
    for (const packet of packets) {
      const {samplesDecoded, skip} = await decoder.decode([packet])
      lead += skip
      if (granule + samplesDecoded > 0) places.push(Math.max(0, granule - lead))
      granule += samplesDecoded
      pages.push(oggPage({packets: [packet], sequence: pages.length, granule, isFirst: pages.length === 0}))
    }
  pages.push(oggPage({packets: [], sequence: pages.length, granule, isLast: true}))
  decoder.free()
  return {pages, places}
}

interface OggCodec {
  codec: string
  signature: string
  open: () => Promise<PacketDecoder>
  /** Hz. */
  rate: number
}

const oggCodecs: readonly OggCodec[] = [
  {codec: 'opus', signature: 'OpusHead', open: opusDecoder, rate: 48_000},
  {codec: 'vorbis', signature: '\x01vorbis', open: vorbisDecoder, rate: 16_000},
]

for (const one of oggCodecs)
  describe(`a damaged Ogg ${one.codec} file`, () => {
    const {rate} = one

    async function compare(damage: (pages: Buffer[]) => Buffer[]) {
      const {pages, places} = await pagesOf(one)
      const whole = await decode(Buffer.concat(pages), rate)
      assert.deepEqual(whole.codes, [])
      const damaged = await withoutNoise(() => decode(Buffer.concat(damage(pages)), rate))
      return {whole, damaged, places}
    }

    const damages: Record<string, (pages: Buffer[], from: number, to: number) => Buffer[]> = {
      'damaged pages': (pages, from, to) =>
        pages.map((page, i) => (i >= from && i < to ? flipped(page, page.length - 1) : page)),
      'missing pages': (pages, from, to) => [...pages.slice(0, from), ...pages.slice(to)],
    }
    for (const [what, damage] of Object.entries(damages))
      it(`replaces ${what} with silence, and keeps the time of later ones`, async () => {
        const {whole, damaged, places} = await compare((pages) => damage(pages, pages.length - 10, pages.length - 6))
        assert.equal(damaged.sound.length, whole.sound.length)
        assert.deepEqual(damaged.codes, ['audio_damaged'])
        const last = places.at(-1)!
        const expected = whole.sound.subarray(last)
        assert.ok(damaged.sound.subarray(last).every((x, i) => Math.abs(x - expected[i]!) < 0.05))
        assert.ok(damaged.sound.subarray(0, last).filter((x) => x === 0).length > 100, 'part of it is silent')
      })

    it('decodes up to the truncation, with a warning and without trailing silence', async () => {
      const {damaged, places} = await compare((pages) => pages.slice(0, -6))
      assert.ok(damaged.sound.length <= places.at(-5)!)
      assert.deepEqual(damaged.codes, ['audio_truncated'])
    })

    it('decodes without a warning if other bytes follow', async () => {
      const {whole, damaged} = await compare((pages) => [...pages, Buffer.alloc(200, 7)])
      assert.deepEqual(damaged.sound, whole.sound)
      assert.deepEqual(damaged.codes, [])
    })
  })

describe('a damaged MP3 file', () => {
  const rate = 44_100
  const bytes = Buffer.concat([mp3Info(100), mp3Frames(100)])
  const frameAt = (index: number) => (1 + index) * mp3Frame.bytes

  it('decodes without a warning if nothing is damaged', async () => {
    const {sound, codes} = await decode(bytes, rate)
    assert.ok(Math.abs(sound.length - 100 * mp3Frame.samples) <= mp3Frame.samples)
    assert.deepEqual(codes, [])
  })

  const damages: Record<string, (file: Buffer) => Buffer> = {
    'in the header of a frame': (file) => flipped(file, frameAt(50)),
    'in the length of a frame': (file) => flipped(file, frameAt(50) + 2),
    'by overwritten bytes': (file) => Buffer.from(file).fill(7, frameAt(50), frameAt(53) + 100),
    'by inserted bytes': (file) => within(file, frameAt(50) + 100, Buffer.alloc(50, 7)),
  }
  for (const [what, damage] of Object.entries(damages))
    it(`keeps its duration if damaged ${what}, with a warning`, async () => {
      const whole = await decode(bytes, rate)
      const {sound, codes} = await withoutNoise(() => decode(damage(bytes), rate))
      assert.ok(Math.abs(sound.length - whole.sound.length) <= mp3Frame.samples)
      assert.deepEqual(codes, ['audio_damaged'])
    })

  it('warns if it has fewer frames than its header declares', async () => {
    const {codes, messages} = await decode(bytes.subarray(0, frameAt(60)), rate)
    assert.deepEqual(codes, ['audio_truncated'])
    assert.match(messages[0] ?? '', /has 61 of the 100 frames/)
  })

  it('warns if it ends inside a frame', async () => {
    assert.deepEqual((await decode(mp3Frames(50).subarray(0, -100), rate)).codes, ['audio_truncated'])
  })

  it('ignores tags and zero padding around its frames', async () => {
    const tag = Buffer.alloc(128)
    tag.write('TAG', 'latin1')
    const ape = Buffer.alloc(64)
    ape.write('APETAGEX', 'latin1')
    ape.writeUInt32LE(32, 12)
    for (const padded of [
      Buffer.concat([Buffer.alloc(3000), bytes]),
      Buffer.concat([bytes, ape, tag]),
      Buffer.concat([bytes, Buffer.alloc(5000)]),
    ]) {
      const {sound, codes} = await decode(padded, rate)
      assert.ok(Math.abs(sound.length - 100 * mp3Frame.samples) <= mp3Frame.samples)
      assert.deepEqual(codes, [])
    }
  })

  it('is rejected after more zero padding than any program writes', async () => {
    await assert.rejects(decode(Buffer.concat([Buffer.alloc(100_000), bytes]), rate), {code: 'audio_unrecognized'})
  })
})
