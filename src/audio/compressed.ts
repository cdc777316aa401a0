import {SvcError} from '../errors/index.js'
import type {ByteReader} from './byte-reader.js'
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

/** Bytes that are decoded at once. */
const pieceBytes = 32 << 10

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
  const decoder: Decoder = await open()
  await decoder.ready
  const pieces = decodeAll(decoder, reader, context)
  const first = await pieces.next()
  if (first.done) throw new SvcError('audio_invalid', {file: context.name, reason: `no ${codec} frame in it is sound`})
  const {sampleRate, channelData} = first.value
  return {
    source: {container, codec, sampleRate, channels: channelData.length},
    durationSec: undefined,
    samples: inOneRate(first.value, pieces, context),
  }
}

/** Everything that has samples; the decoder is freed at the end, also at an early one. */
async function* decodeAll(
  decoder: Decoder,
  reader: ByteReader,
  {name, warn, signal}: DecoderContext,
): AsyncGenerator<Decoded, void, undefined> {
  let warned = false
  const check = ({errors}: Decoded) => {
    if (errors.length === 0 || warned) return
    warned = true
    warn({code: 'audio_damaged', message: `${name} is damaged in places; what can be decoded is used.`})
  }
  try {
    for (;;) {
      signal?.throwIfAborted()
      const bytes = await reader.read(pieceBytes)
      if (bytes.length === 0) break
      const decoded = await decoder.decode(bytes)
      check(decoded)
      if (decoded.samplesDecoded > 0) yield decoded
    }
    const rest = await decoder.flush?.()
    if (rest !== undefined) check(rest)
    if (rest !== undefined && rest.samplesDecoded > 0) yield rest
  } finally {
    decoder.free()
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
