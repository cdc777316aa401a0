import type {ByteReader} from './byte-reader.js'
import {id3Length} from './sniff.js'
import type {DecoderContext} from './sound.js'
import type {Unit} from './unit.js'

/** What is looked at in one go: more than a chain of the longest frames, which have 1,441 bytes. */
const lookBytes = 8 << 10
/** Bytes that are decoded at once: few, since silence may take a thousandth of the room of its samples. */
const unitBytes = 1024
/** Frames that must follow each other before bytes count as frames. */
const chainLength = 3

/**
 * The frames of an MP3 file. Where lost bytes are between two of them, the number of lost frames is estimated from the
 * mean length of a frame. Sources: ISO 11172-3 and 13818-3, section 2.4.1.3; the Xing and VBRI headers as mpg123 reads
 * them.
 * @param onDamage is called where bytes are neither a frame nor a tag
 */
export async function* mpegFrames(
  reader: ByteReader,
  {name, warn}: DecoderContext,
  onDamage: () => void,
): AsyncGenerator<Unit, void, undefined> {
  let format: number | undefined
  let promised = 0
  const read = {frames: 0, bytes: 0}
  const lost = {frames: 0, bytes: 0, isPadding: true}
  let isCut = false
  for (;;) {
    const bytes = await reader.peek(lookBytes)
    const tag = tagLength(bytes)
    if (bytes.length === 0) break
    if (tag > 0) {
      await reader.skip(tag)
      continue
    }
    const header = readHeader(bytes, 0)
    const isFrame = format === undefined ? isChain(bytes, 0) : header?.format === format
    isCut = isFrame && header !== undefined && header.length > bytes.length
    if (isCut) break
    if (!isFrame || header === undefined) {
      const next = nextChain(bytes)
      if (read.frames > 0) lost.bytes += next
      lost.isPadding &&= bytes.subarray(0, next).every((byte) => byte === 0)
      format = undefined
      await reader.skip(next)
      continue
    }
    if (read.frames === 0) promised = promisedFrames(bytes)
    format = header.format
    const stretch = measure(bytes, format)
    const missing = read.frames === 0 ? 0 : Math.round((lost.bytes * read.frames) / read.bytes)
    if (lost.bytes > 0) onDamage()
    yield {
      packets: [await reader.read(stretch.bytes)],
      isAfterLoss: lost.bytes > 0,
      missing: missing * header.samples,
    }
    read.frames += stretch.frames
    read.bytes += stretch.bytes
    lost.frames += missing
    lost.bytes = 0
    lost.isPadding = true
  }
  if (lost.bytes > 0 && !lost.isPadding) onDamage()
  const frames = read.frames + lost.frames
  const length = isCut ? 'ends inside of a frame' : `has ${frames} of the ${promised} frames that its header says`
  // Some writers count the frame that holds the number.
  if (frames > 0 && (isCut || frames < promised - 1))
    warn({code: 'audio_truncated', message: `${name} ${length}; what is there is used.`})
}

/** Length of a tag between or behind frames, bytes; 0 without one. */
function tagLength(bytes: Buffer): number {
  const id = bytes.toString('latin1', 0, 11)
  if (id.startsWith('TAG')) return 128
  if (id === 'LYRICSBEGIN') return bytes.length
  if (id.startsWith('APETAGEX') && bytes.length >= 16) return 32 + bytes.readUInt32LE(12)
  return id3Length(bytes)
}

interface FrameHeader {
  /** Bytes of the frame, the header included. */
  length: number
  /** Samples per channel. */
  samples: number
  /** What does not change within a stream: version, rate, and whether there is one channel. */
  format: number
}

/** kbit/s by code, of MPEG 1 and of MPEG 2 and 2.5, layer III. */
const bitrates = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const
const rates = [44_100, 48_000, 32_000] as const

/** Header of a layer III frame at a place; undefined where there is none, or its length is not in it. */
function readHeader(bytes: Buffer, at: number): FrameHeader | undefined {
  if (bytes[at] !== 0xff || at + 4 > bytes.length) return undefined
  const [second, third, fourth] = [bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!]
  const version = (second >> 3) & 3
  // Sync, no reserved version, layer III.
  if (second < 0xe0 || version === 1 || (second & 6) !== 2) return undefined
  const rate = rates[(third >> 2) & 3]
  const kilobits = bitrates[version === 3 ? 0 : 1][third >> 4]
  if (rate === undefined || kilobits === undefined || kilobits === 0) return undefined
  const samples = version === 3 ? 1152 : 576
  const hertz = rate >> (version === 3 ? 0 : version === 2 ? 1 : 2)
  const isMono = fourth >> 6 === 3
  return {
    length: Math.floor((125 * samples * kilobits) / hertz) + ((third >> 1) & 1),
    samples,
    format: (version << 8) | ((third & 12) << 1) | (isMono ? 1 : 0),
  }
}

/** Whether frames of one format follow each other from a place on; at the end of a file fewer of them. */
function isChain(bytes: Buffer, from: number): boolean {
  let at = from
  let format: number | undefined
  for (let count = 0; count < chainLength; count++) {
    const isEnd = at === bytes.length || tagLength(bytes.subarray(at)) > 0
    if (count > 0 && isEnd && bytes.length < lookBytes) return true
    const header = readHeader(bytes, at)
    if (header === undefined || (format ?? header.format) !== header.format) return false
    format = header.format
    at += header.length
    if (at > bytes.length) return count > 0
  }
  return true
}

/** Bytes up to the next frames, or up to where they may begin, at least one. */
function nextChain(bytes: Buffer): number {
  for (let at = bytes.indexOf(0xff, 1); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    if (bytes.length === lookBytes && at > bytes.length / 2) break
    if (isChain(bytes, at)) return at
  }
  return bytes.length === lookBytes ? bytes.length / 2 : bytes.length
}

/** Frames that are decoded at once. */
function measure(bytes: Buffer, format: number): {bytes: number; frames: number} {
  let length = 0
  let frames = 0
  while (length < unitBytes) {
    const header = readHeader(bytes, length)
    if (header?.format !== format || length + header.length > bytes.length) break
    length += header.length
    frames++
  }
  return {bytes: length, frames}
}

/** Frames that the first one says there are; 0 where it does not. */
function promisedFrames(bytes: Buffer): number {
  const at = Math.max(bytes.indexOf('Xing', 0, 'latin1'), bytes.indexOf('Info', 0, 'latin1'))
  if (at >= 0 && at <= 36 && bytes.length >= at + 12) return bytes[at + 7]! & 1 ? bytes.readUInt32BE(at + 8) : 0
  return bytes.toString('latin1', 36, 40) === 'VBRI' ? bytes.readUInt32BE(50) : 0
}
