import {SvcError} from '../errors/index.js'
import type {ByteReader} from './byte-reader.js'
import {type ChannelLayout, layoutOfMask} from './channel-layout.js'
import type {PcmEncoding} from './pcm.js'

/** Sample encoding of a WAV file. */
export type WaveEncoding = PcmEncoding | 'alaw' | 'mulaw' | 'adpcm_ima_wav' | 'other'

export interface WaveFormat {
  encoding: WaveEncoding
  /** Format tag of the codec. */
  tag: number
  channels: number
  /** Hz. */
  sampleRate: number
  /** Bytes per frame, or per ADPCM block. */
  frameBytes: number
  bitsPerSample: number
  layout: ChannelLayout
  /** The unmodified `fmt ` chunk, for external decoders. */
  chunk: Buffer
}

export interface WaveHeader {
  format: WaveFormat
  /** RIFX: numbers and samples are big-endian. */
  isBigEndian: boolean
  /** Size of the data chunk; undefined if the writer did not know it. */
  dataBytes: number | undefined
}

/** Format tag WAVE_FORMAT_EXTENSIBLE: the codec is in the extension. */
const extensible = 0xfffe
/** Programs that write to a pipe declare a size of at least this, because they do not know it. */
const unknownSize = 0x7fff_f000
/** Maximum length of a `fmt ` or `ds64` chunk. */
const maxChunkBytes = 64 << 10
/** Maximum number of chunks before the data chunk. */
const maxChunks = 1000

/**
 * Reads a RIFF, RIFX, RF64 or BW64 header up to the first sample. Other chunks are skipped. The declared size is not
 * checked here, because writers often set it incorrectly. Sources: Microsoft's RIFF and WAVEFORMATEX, EBU Tech 3306
 * (RF64).
 * @throws audio_invalid
 */
export async function readWaveHeader(reader: ByteReader, name: string): Promise<WaveHeader> {
  const fail = (reason: string) => new SvcError('audio_invalid', {file: name, reason})
  const isBigEndian = (await reader.read(12)).toString('latin1', 0, 4) === 'RIFX'
  let format: WaveFormat | undefined
  let longData: number | undefined
  for (let count = 0; count < maxChunks; count++) {
    const head = await reader.read(8)
    if (head.length < 8) throw fail(format === undefined ? 'its header is incomplete' : 'it has no data chunk')
    const id = head.toString('latin1', 0, 4)
    const size = isBigEndian ? head.readUInt32BE(4) : head.readUInt32LE(4)
    if (id === 'data') {
      if (format === undefined) throw fail('its data chunk precedes its fmt chunk')
      return {format, isBigEndian, dataBytes: await dataSize(reader, size, longData)}
    }
    const padded = size + (size % 2)
    if (id !== 'fmt ' && id !== 'ds64') await reader.skip(padded)
    else {
      if (size > maxChunkBytes) throw fail(`its ${id.trim()} chunk has ${size} bytes`)
      const chunk = (await reader.read(padded)).subarray(0, size)
      if (id === 'fmt ') format = readFormat(isBigEndian ? littleEndian(chunk) : chunk, fail)
      else if (chunk.length >= 16) longData = Number(chunk.readBigUInt64LE(8))
    }
  }
  throw fail(`it has more than ${maxChunks} chunks before its data`)
}

/** Widths of the integers in a `fmt ` chunk and its extension, bytes; the rest has no byte order. */
const formatWidths = [2, 2, 4, 4, 2, 2, 2, 2, 4, 4, 2, 2]

function littleEndian(chunk: Buffer): Buffer {
  const copy = Buffer.from(chunk)
  let at = 0
  for (const width of formatWidths) {
    copy.subarray(at, at + width).reverse()
    at += width
  }
  return copy
}

/** Chunks that may follow the data; anything else after an empty data chunk is audio whose size was never written. */
const trailing = new Set(['LIST', 'id3 ', 'ID3 ', 'bext', 'cue ', 'smpl', 'JUNK', 'fact', 'PEAK', 'iXML', '_PMX'])

async function dataSize(reader: ByteReader, size: number, long: number | undefined): Promise<number | undefined> {
  if (size === 0xffff_ffff && long !== undefined && Number.isSafeInteger(long)) return long
  if (size >= unknownSize) return undefined
  if (size > 0) return size
  const next = await reader.peek(4)
  return next.length === 0 || trailing.has(next.toString('latin1')) ? 0 : undefined
}

function readFormat(chunk: Buffer, fail: (reason: string) => SvcError): WaveFormat {
  if (chunk.length < 14) throw fail('its fmt chunk is too short')
  const channels = chunk.readUInt16LE(2)
  const sampleRate = chunk.readUInt32LE(4)
  const blockAlign = chunk.readUInt16LE(12)
  const bitsPerSample = chunk.length >= 16 ? chunk.readUInt16LE(14) : 0
  const outer = chunk.readUInt16LE(0)
  const isExtended = outer === extensible && chunk.length >= 26
  const tag = isExtended ? chunk.readUInt16LE(24) : outer
  const layout = isExtended ? layoutOfMask(chunk.readUInt32LE(20), channels) : undefined
  if (channels < 1 || channels > 64) throw fail(`its header declares ${channels} channels`)
  if (sampleRate < 1000 || sampleRate > 768_000) throw fail(`its header declares a sample rate of ${sampleRate} Hz`)
  const format = {tag, channels, sampleRate, bitsPerSample, layout, chunk}
  const linear = tag === 1 || tag === 3
  if (!linear) {
    const encoding = codecs[tag] ?? 'other'
    return {...format, encoding, frameBytes: encoding === 'adpcm_ima_wav' ? blockAlign : channels}
  }
  // Some writers omit the block alignment; the smallest container that holds the bits is assumed then.
  const width = blockAlign > 0 && blockAlign % channels === 0 ? blockAlign / channels : Math.ceil(bitsPerSample / 8)
  const encoding = (tag === 1 ? integers : floats)[width]
  if (encoding === undefined || bitsPerSample > 8 * width)
    throw fail(`its header declares ${bitsPerSample} bits per sample in ${width} bytes`)
  return {...format, encoding, frameBytes: width * channels}
}

const integers: Readonly<Record<number, PcmEncoding>> = {1: 'u8', 2: 's16le', 3: 's24le', 4: 's32le'}
const floats: Readonly<Record<number, PcmEncoding>> = {4: 'f32le', 8: 'f64le'}
const codecs: Readonly<Record<number, WaveEncoding>> = {6: 'alaw', 7: 'mulaw', 17: 'adpcm_ima_wav'}

/**
 * A RIFF header with only a `fmt ` chunk, up to the first sample.
 * @param dataBytes undefined if unknown
 */
export function writeWaveHeader(format: Buffer, dataBytes: number | undefined): Buffer {
  const head = Buffer.alloc(12 + 8 + format.length + (format.length % 2) + 8)
  const size = Math.min(dataBytes ?? Infinity, 0xffff_ffff - head.length)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(head.length - 8 + size, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(format.length, 16)
  format.copy(head, 20)
  head.write('data', head.length - 8, 'latin1')
  head.writeUInt32LE(size, head.length - 4)
  return head
}
