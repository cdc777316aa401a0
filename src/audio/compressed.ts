import {SvcError} from '../errors/index.js'
import type {ByteReader} from './byte-reader.js'
import {flacHeadBytes, flacLength} from './flac-length.js'
import {type OggPiece, oggPages} from './ogg-pages.js'
import {mixDown} from './pcm.js'
import type {DecoderContext, Sound} from './sound.js'

/** What the decoders in WebAssembly have in common. */
interface Decoder {
  ready: Promise<void>
  decode(bytes: Uint8Array): Decoded | Promise<Decoded>
  flush?(): Decoded | Promise<Decoded>
  free(): void
}

interface Decoded {
  channelData: Float32Array[]
  samplesDecoded: number
  sampleRate: number
  errors: readonly {message: string}[]
}

interface Codec {
  container: string
  codec: string
  open: () => Promise<Decoder>
}

/** The packages are loaded when a file needs them. */
const codecs = {
  flac: {
    container: 'flac',
    codec: 'flac',
    open: async () => new (await import('@wasm-audio-decoders/flac')).FLACDecoder(),
  },
  mp3: {container: 'mp3', codec: 'mp3', open: async () => new (await import('mpg123-decoder')).MPEGDecoder()},
  'ogg-opus': {
    container: 'ogg',
    codec: 'opus',
    open: async () => new (await import('ogg-opus-decoder')).OggOpusDecoder(),
  },
  'ogg-vorbis': {
    container: 'ogg',
    codec: 'vorbis',
    open: async () => new (await import('@wasm-audio-decoders/ogg-vorbis')).OggVorbisDecoder(),
  },
} as const satisfies Readonly<Record<string, Codec>>

export type CompressedKind = keyof typeof codecs

/** Bytes that are decoded at once: few, since silence may take a thousandth of the room of its samples. */
const pieceBytes = 1024

/**
 * A compressed recording as sound. The first frames are decoded to learn its rate.
 * @throws audio_invalid where nothing can be decoded
 */
export async function openCompressed(
  kind: CompressedKind,
  reader: ByteReader,
  context: DecoderContext,
): Promise<Sound> {
  const {container, codec, open} = codecs[kind]
  const length = kind === 'flac' ? flacLength(await reader.peek(flacHeadBytes)) : undefined
  const decoder: Decoder = await open()
  await decoder.ready
  const input = container === 'ogg' ? oggPages(reader) : inPieces(reader)
  const pieces = decodeAll(decoder, input, length?.samples ?? 0, context)
  const first = await pieces.next()
  if (first.done) throw new SvcError('audio_invalid', {file: context.name, reason: `no ${codec} frame in it is sound`})
  const {sampleRate, channelData} = first.value
  return {
    source: {container, codec, sampleRate, channels: channelData.length},
    durationSec: length === undefined ? undefined : length.samples / length.sampleRate,
    samples: inOneRate(first.value, pieces, context),
  }
}

async function* inPieces(reader: ByteReader): AsyncGenerator<OggPiece, void, undefined> {
  for (;;) {
    const bytes = await reader.read(pieceBytes)
    if (bytes.length === 0) return
    yield {bytes, begins: false}
  }
}

/**
 * Everything that has samples; the decoder is freed at the end, also at an early one.
 * @param expected samples that the header promises, 0 where it does not
 */
async function* decodeAll(
  decoder: Decoder,
  input: AsyncIterable<OggPiece>,
  expected: number,
  {name, warn}: DecoderContext,
): AsyncGenerator<Decoded, void, undefined> {
  let damaged = false
  let samples = 0
  const {decode, flush, free} = tolerant(decoder, () => {
    if (!damaged) warn({code: 'audio_damaged', message: `${name} is damaged in places; what can be decoded is used.`})
    damaged = true
  })
  const counted = (all: Decoded[]) => {
    for (const {samplesDecoded} of all) samples += samplesDecoded
    return all
  }
  try {
    for await (const {bytes, begins} of input) {
      // The decoder of Opus forgets what it was given of the next file when one ends.
      if (begins) yield* counted(await flush())
      yield* counted(await decode(bytes))
    }
    yield* counted(await flush())
    if (samples > 0 && samples < expected && !damaged)
      warn({code: 'audio_truncated', message: lacking(name, samples, expected)})
  } finally {
    free()
  }
}

const lacking = (name: string, samples: number, expected: number) =>
  `${name} has ${samples} of the ${expected} samples that its header says; what is there is used.`

interface TolerantDecoder {
  /** What has samples: nothing or one. */
  decode: (bytes: Uint8Array) => Promise<Decoded[]>
  flush: () => Promise<Decoded[]>
  free: () => void
}

/** A decoder that damaged bytes do not stop. Some crash it, and then it says nothing any more. */
function tolerant(decoder: Decoder, onDamage: () => void): TolerantDecoder {
  let crashed = false
  const attempt = async (decode: () => Decoded | Promise<Decoded> | undefined): Promise<Decoded[]> => {
    if (crashed) return []
    try {
      const decoded = await decode()
      if (decoded === undefined) return []
      if (decoded.errors.length > 0) onDamage()
      return decoded.samplesDecoded > 0 ? [decoded] : []
    } catch {
      crashed = true
      onDamage()
      return []
    }
  }
  return {
    decode: (bytes) => attempt(() => decoder.decode(bytes)),
    flush: () => attempt(() => decoder.flush?.()),
    free: () => {
      if (!crashed) decoder.free()
    },
  }
}

/** @throws audio_invalid where the rate changes within the file */
async function* inOneRate(
  first: Decoded,
  others: AsyncGenerator<Decoded, void, undefined>,
  {name}: DecoderContext,
): AsyncGenerator<Float32Array, void, undefined> {
  try {
    yield mixDown(first.channelData)
    for await (const {channelData, sampleRate} of others) {
      if (sampleRate !== first.sampleRate) {
        const reason = `its sample rate changes from ${first.sampleRate} to ${sampleRate} Hz`
        throw new SvcError('audio_invalid', {file: name, reason})
      }
      yield mixDown(channelData)
    }
  } finally {
    await others.return()
  }
}
