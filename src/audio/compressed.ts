import {SvcError} from '../errors/index.js'
import type {ByteReader} from './byte-reader.js'
import {flacFrames} from './flac-frames.js'
import {flacHeadBytes, flacLength} from './flac-length.js'
import {mpegFrames} from './mpeg-frames.js'
import {oggUnits} from './ogg-units.js'
import {
  type Decoded,
  flacDecoder,
  mpegDecoder,
  opusDecoder,
  type PacketDecoder,
  silent,
  vorbisDecoder,
} from './packet-decoders.js'
import type {Block, DecoderContext, Sound} from './sound.js'
import type {Unit} from './unit.js'

interface Codec {
  container: string
  codec: string
  open: () => Promise<PacketDecoder>
  units: (reader: ByteReader, context: DecoderContext, onDamage: () => void) => AsyncIterable<Unit>
}

const inOgg =
  (signature: string): Codec['units'] =>
  (reader, context, onDamage) =>
    oggUnits(reader, signature, context, onDamage)

const codecs = {
  flac: {container: 'flac', codec: 'flac', open: flacDecoder, units: flacFrames},
  mp3: {container: 'mp3', codec: 'mp3', open: mpegDecoder, units: mpegFrames},
  'ogg-flac': {container: 'ogg', codec: 'flac', open: flacDecoder, units: inOgg('\x7fFLAC')},
  'ogg-opus': {container: 'ogg', codec: 'opus', open: opusDecoder, units: inOgg('OpusHead')},
  'ogg-vorbis': {container: 'ogg', codec: 'vorbis', open: vorbisDecoder, units: inOgg('\x01vorbis')},
} as const satisfies Readonly<Record<string, Codec>>

export type CompressedKind = keyof typeof codecs

/**
 * Opens a compressed recording. Damaged or lost frames are dropped, or replaced with silence if the container contains
 * their duration, so that later audio keeps its time. The first frames are decoded to find the sample rate.
 * @throws audio_invalid if nothing can be decoded
 */
export async function openCompressed(
  kind: CompressedKind,
  reader: ByteReader,
  context: DecoderContext,
): Promise<Sound> {
  const {container, codec} = codecs[kind]
  const length = codec === 'flac' ? flacLength(await reader.peek(flacHeadBytes)) : undefined
  const pieces = decodeAll(codecs[kind], reader, context)
  const first = await pieces.next()
  if (first.done) throw new SvcError('audio_invalid', {file: context.name, reason: `it has no valid ${codec} frame`})
  const {sampleRate, channelData} = first.value
  return {
    source: {container, codec, sampleRate, channels: channelData.length},
    durationSec: length === undefined ? undefined : length.samples / length.sampleRate,
    blocks: blocksOf(first.value, pieces),
  }
}

/** Decodes all units and fills gaps with silence; the decoder is freed when iteration ends, also early. */
async function* decodeAll(
  {open, units}: Codec,
  reader: ByteReader,
  context: DecoderContext,
): AsyncGenerator<Decoded, void, undefined> {
  let isDamaged = false
  const onDamage = () => {
    isDamaged = true
  }
  const {decode, free} = tolerant(await open(), onDamage)
  const timeLine = new TimeLine()
  let silentSec = 0
  try {
    for await (const unit of units(reader, context, onDamage)) {
      const heard = await decode(unit.packets)
      const decoded = {...heard, layout: unit.layout ?? heard.layout}
      const {silence, from, to} = timeLine.place(unit, decoded)
      const {sampleRate} = decoded
      if (silence > 0) silentSec += silence / sampleRate
      for (let left = silence; left > 0; left -= sampleRate) {
        const zeros = new Float32Array(Math.min(left, sampleRate))
        yield {...decoded, channelData: decoded.channelData.map(() => zeros), errors: []}
      }
      if (to > from) yield {...decoded, channelData: decoded.channelData.map((channel) => channel.subarray(from, to))}
    }
    if (isDamaged) context.warn({code: 'audio_damaged', message: damage(context.name, silentSec)})
  } finally {
    free()
  }
}

const damage = (name: string, silentSec: number): string =>
  silentSec > 0
    ? `${name} is damaged: ${silentSec.toFixed(2)} s could not be decoded and were replaced with silence.`
    : `${name} is damaged: some frames could not be decoded. The rest of the audio is used.`

/** A longer gap is a jump in the timestamps, not lost audio. */
const maxGapSec = 3600

/** Maps units to positions in the output. Timestamps of a file may start anywhere and jump where nothing was lost. */
class TimeLine {
  /** Samples so far, including the pre-skip but not the padding at the end of streams. */
  #position = 0
  /** Added to the timestamps of units. */
  #offset = 0
  #isAfterLoss = false

  /** Length of the silence before a unit, and the range of its samples that is used. */
  place(
    {isAfterLoss, begins, isLast, start, end, missing}: Unit,
    {samplesDecoded, sampleRate, skip, errors}: Decoded,
  ): {silence: number; from: number; to: number} {
    if (begins) this.#offset = this.#position
    this.#isAfterLoss ||= isAfterLoss || errors.length > 0
    if (samplesDecoded === 0) return {silence: 0, from: 0, to: 0}
    const position = start ?? (end === undefined ? undefined : end - samplesDecoded)
    const gap = missing ?? (position === undefined ? 0 : this.#offset + position - this.#position)
    const isFilled = this.#isAfterLoss && gap > 0 && gap <= maxGapSec * sampleRate
    const surplus = isLast && gap < 0 ? Math.min(samplesDecoded, -gap) : 0
    const silence = isFilled ? gap : 0
    this.#isAfterLoss = false
    if (missing === undefined && !isFilled && surplus === 0) this.#offset -= gap
    this.#position += silence + samplesDecoded - surplus
    return {silence, from: skip, to: samplesDecoded - surplus}
  }
}

interface TolerantDecoder {
  decode: (packets: readonly Uint8Array[]) => Promise<Decoded>
  free: () => void
}

/** A decoder that survives damaged input. If the input crashes the decoder, later packets decode to nothing. */
function tolerant(decoder: PacketDecoder, onDamage: () => void): TolerantDecoder {
  let isCrashed = false
  return {
    async decode(packets) {
      if (isCrashed) return silent
      try {
        const decoded = await decoder.decode(packets)
        if (decoded.errors.length > 0) onDamage()
        return decoded
      } catch {
        isCrashed = true
        onDamage()
        return silent
      }
    },
    free: () => {
      if (!isCrashed) decoder.free()
    },
  }
}

async function* blocksOf(
  first: Decoded,
  others: AsyncGenerator<Decoded, void, undefined>,
): AsyncGenerator<Block, void, undefined> {
  const block = ({channelData, sampleRate, layout}: Decoded): Block => ({channels: channelData, sampleRate, layout})
  try {
    yield block(first)
    for await (const decoded of others) yield block(decoded)
  } finally {
    await others.return()
  }
}
