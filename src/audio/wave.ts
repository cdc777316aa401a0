import {SvcError} from '../errors/index.js'
import type {ByteReader} from './byte-reader.js'
import {decodePcm, type PcmEncoding, pcmEncodings, sampleBytes} from './pcm.js'
import {type Block, type DecoderContext, type Sound, truncationWarning} from './sound.js'
import {type FrameDecoder, openWaveCodec} from './wave-codecs.js'
import {readWaveHeader, type WaveFormat, type WaveHeader, writeWaveHeader} from './wave-header.js'

/** Bytes decoded at once, at least one frame; of live audio, 0.1 s at 16 kHz. */
const pieceBytes = 64 << 10
const livePieceBytes = 3200

/**
 * Opens a WAV file and decodes it as a stream. If its codec needs ffmpeg, returns a header to put before the remaining
 * bytes.
 * @throws audio_invalid
 */
export async function openWave(reader: ByteReader, context: DecoderContext): Promise<Sound | {header: Buffer}> {
  const header = await readWaveHeader(reader, context.name)
  const {format, isBigEndian} = header
  const decode = isLinear(format) ? linearDecoder(format, isBigEndian) : await openWaveCodec(format)
  if (decode === undefined) return {header: writeWaveHeader(format.chunk, header.dataBytes)}
  const {encoding, sampleRate, channels} = format
  const codec =
    encoding === 'adpcm_ima_wav' ? encoding : `pcm_${isBigEndian ? encoding.replace(/le$/, 'be') : encoding}`
  return {
    source: {container: 'wav', codec, sampleRate, channels},
    durationSec: durationOf(header, context),
    blocks: readFrames(reader, {...format, dataBytes: header.dataBytes}, decode, context),
  }
}

const linearDecoder =
  (format: WaveFormat & {encoding: PcmEncoding}, isBigEndian: boolean): FrameDecoder =>
  (frames) =>
    decodePcm(isBigEndian ? reversed(frames, sampleBytes(format.encoding)) : frames, format)

/** Samples with their bytes in reverse order. */
function reversed(frames: Buffer, width: number): Buffer {
  const copy = Buffer.from(frames)
  for (let at = 0; at < copy.length; at += width) copy.subarray(at, at + width).reverse()
  return copy
}

const isLinear = (format: WaveFormat): format is WaveFormat & {encoding: PcmEncoding} =>
  (pcmEncodings as readonly string[]).includes(format.encoding)

/** The duration in the header, limited by the size of the file. */
function durationOf({format, dataBytes}: WaveHeader, {fileBytes}: DecoderContext): number | undefined {
  const bytes = Math.min(dataBytes ?? Infinity, fileBytes ?? Infinity)
  if (!Number.isFinite(bytes) || format.encoding === 'adpcm_ima_wav') return undefined
  return bytes / format.frameBytes / format.sampleRate
}

interface FrameFormat extends Pick<WaveFormat, 'frameBytes' | 'sampleRate' | 'layout'> {
  dataBytes: number | undefined
}

async function* readFrames(
  reader: ByteReader,
  {frameBytes, dataBytes, sampleRate, layout}: FrameFormat,
  decode: FrameDecoder,
  {name, warn, live}: DecoderContext,
): AsyncGenerator<Block, void, undefined> {
  const piece = Math.max(1, Math.floor((live ? livePieceBytes : pieceBytes) / frameBytes)) * frameBytes
  for (let left = dataBytes ?? Infinity; left > 0; ) {
    const bytes = await reader.read(Math.min(piece, left))
    // An incomplete frame at the end is dropped.
    const whole = bytes.length - (bytes.length % frameBytes)
    if (whole > 0) yield {channels: decode(bytes.subarray(0, whole)), sampleRate, layout}
    left -= bytes.length
    if (bytes.length < piece && left > 0) {
      if (dataBytes !== undefined) warn(truncationWarning(name, `is ${left} bytes shorter than its header declares`))
      return
    }
  }
}

/**
 * Opens raw samples without a header.
 * @throws audio_invalid
 */
export function openRaw(
  reader: ByteReader,
  {encoding, sampleRate, channels}: {encoding: PcmEncoding; sampleRate: number; channels: number},
  context: DecoderContext,
): Sound {
  if (!(sampleRate >= 1000 && sampleRate <= 768_000 && channels >= 1 && channels <= 64))
    throw new SvcError('audio_invalid', {
      file: context.name,
      reason: `${channels} channels at ${sampleRate} Hz are not supported`,
    })
  const frameBytes = channels * sampleBytes(encoding)
  const decode = (frames: Buffer) => decodePcm(frames, {encoding, channels, frameBytes})
  return {
    source: {container: 'raw', codec: `pcm_${encoding}`, sampleRate, channels},
    durationSec: context.fileBytes === undefined ? undefined : context.fileBytes / frameBytes / sampleRate,
    blocks: readFrames(reader, {frameBytes, sampleRate, layout: undefined, dataBytes: undefined}, decode, context),
  }
}
