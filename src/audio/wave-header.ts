import {SvcError} from '../errors/index.js'
import type {ByteReader} from './byte-reader.js'
import type {PcmEncoding} from './pcm.js'

/** How the samples of a WAV file are encoded. */
export type WaveEncoding = PcmEncoding | 'alaw' | 'mulaw' | 'adpcm_ima_wav' | 'other'

export interface WaveFormat {
  encoding: WaveEncoding
  /** The number that the file gives its codec. */
  tag: number
  channels: number
  /** Hz. */
  sampleRate: number
  /** Bytes from one frame, or one block of ADPCM, to the next. */
  frameBytes: number
  bitsPerSample: number
  /** The `fmt ` chunk as it is, for decoders that want it. */
  chunk: Buffer
}

export interface WaveHeader {
  format: WaveFormat
  /** RIFX: numbers and samples have their highest byte first. */
  isBigEndian: boolean
  /** What the header says; undefined where a writer did not know it. */
  dataBytes: number | undefined
}

/** Number that stands for a format given by an identifier of its own. */
const extensible = 0xfffe
/** Sizes from here on are what writers of pipes put in place of one they do not know. */
const unknownSize = 0x7fff_f000
/** No `fmt ` or `ds64` chunk is longer. */
const mostChunkBytes = 64 << 10
/** More chunks before the sound are nonsense. */
const mostChunks = 1000

/**
 * Reads a RIFF, RIFX, RF64 or BW64 header up to the first byte of sound. Chunks of other kinds are left out, and the sizes in
 * the header are checked against nothing yet: writers lie about them. Sources: Microsoft's RIFF and WAVEFORMATEX, EBU
 * Tech 3306 (RF64).
 * @throws audio_invalid
 */
export async function readWaveHeader(reader: ByteReader, name: string): Promise<WaveHeader> {
  const fail = (reason: string) => new SvcError('audio_invalid', {file: name, reason})
  const isBigEndian = (await reader.read(12)).toString('latin1', 0, 4) === 'RIFX'
  let format: WaveFormat | undefined
  let longData: number | undefined
  for (let count = 0; count < mostChunks; count++) {
    const head = await reader.read(8)
    if (head.length < 8) throw fail(format === undefined ? 'its header ends too soon' : 'it has no data chunk')
    const id = head.toString('latin1', 0, 4)
    const size = isBigEndian ? head.readUInt32BE(4) : head.readUInt32LE(4)
    if (id === 'data') {
      if (format === undefined) throw fail('its format is not said before its data')
      return {format, isBigEndian, dataBytes: await dataSize(reader, size, longData)}
    }
    const padded = size + (size % 2)
    if (id !== 'fmt ' && id !== 'ds64') await reader.skip(padded)
    else {
      if (size > mostChunkBytes) throw fail(`its ${id.trim()} chunk has ${size} bytes`)
      const chunk = (await reader.read(padded)).subarray(0, size)
      if (id === 'fmt ') format = readFormat(isBigEndian ? littleEndian(chunk) : chunk, fail)
      else if (chunk.length >= 16) longData = Number(chunk.readBigUInt64LE(8))
    }
  }
  throw fail(`it has more than ${mostChunks} chunks before its data`)
}

/** Widths of the numbers in a `fmt ` chunk with its extension, bytes; what comes behind them has none. */
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

/** Chunks that may follow the sound; anything else after an empty data chunk is sound whose size was never written. */
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
  const tag = outer === extensible && chunk.length >= 26 ? chunk.readUInt16LE(24) : outer
  if (channels < 1 || channels > 64) throw fail(`its header says ${channels} channels`)
  if (sampleRate < 1000 || sampleRate > 768_000) throw fail(`its header says ${sampleRate} samples per second`)
  const format = {tag, channels, sampleRate, bitsPerSample, chunk}
  const linear = tag === 1 || tag === 3
  if (!linear) {
    const encoding = codecs[tag] ?? 'other'
    return {...format, encoding, frameBytes: encoding === 'adpcm_ima_wav' ? blockAlign : channels}
  }
  // Some writers leave the alignment out; a container is wide enough for its bits.
  const width = blockAlign > 0 && blockAlign % channels === 0 ? blockAlign / channels : Math.ceil(bitsPerSample / 8)
  const encoding = (tag === 1 ? integers : floats)[width]
  if (encoding === undefined || bitsPerSample > 8 * width)
    throw fail(`its header says ${bitsPerSample} bits per sample in ${width} bytes`)
  return {...format, encoding, frameBytes: width * channels}
}

const integers: Readonly<Record<number, PcmEncoding>> = {1: 'u8', 2: 's16le', 3: 's24le', 4: 's32le'}
const floats: Readonly<Record<number, PcmEncoding>> = {4: 'f32le', 8: 'f64le'}
const codecs: Readonly<Record<number, WaveEncoding>> = {6: 'alaw', 7: 'mulaw', 17: 'adpcm_ima_wav'}

/**
 * A RIFF header with nothing but a `fmt ` chunk, up to the first byte of sound.
 * @param dataBytes undefined where it is not known
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
