import type {ByteReader} from './byte-reader.js'
import {id3Length} from './sniff.js'
import {type DecoderContext, truncationWarning} from './sound.js'
import type {Unit} from './unit.js'

/** Bytes examined at once: more than a chain of the longest frames, 1,441 bytes each. */
const lookBytes = 8 << 10
/** Bytes decoded at once: few, because silence may decode to a thousand times as many bytes. */
const unitBytes = 1024
/** Consecutive frames needed before bytes count as frames. */
const chainLength = 3

/**
 * The frames of an MP3 file. The number of frames lost between two others is estimated from the mean frame length.
 * Sources: ISO 11172-3 and 13818-3, section 2.4.1.3; the Xing and VBRI headers as mpg123 reads them.
 * @param onDamage called for bytes that are neither a frame nor a tag
 */
export async function* mpegFrames(
  reader: ByteReader,
  {name, warn}: DecoderContext,
  onDamage: () => void,
): AsyncGenerator<Unit, void, undefined> {
  let format: number | undefined
  let declaredFrames = 0
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
    // Frames of another format begin a file that was joined to this one.
    const isFrame = header !== undefined && (header.format === format || isChain(bytes, 0))
    isCut = isFrame && header.length > bytes.length
    if (isCut) break
    if (!isFrame) {
      const next = nextChain(bytes)
      if (read.frames > 0) lost.bytes += next
      lost.isPadding &&= bytes.subarray(0, next).every((byte) => byte === 0)
      format = undefined
      await reader.skip(next)
      continue
    }
    if (read.frames === 0) declaredFrames = readDeclaredFrames(bytes)
    format = header.format
    const group = measure(bytes, format)
    const missing = read.frames === 0 ? 0 : Math.round((lost.bytes * read.frames) / read.bytes)
    if (lost.bytes > 0) onDamage()
    yield {
      packets: [await reader.read(group.bytes)],
      isAfterLoss: lost.bytes > 0,
      missing: missing * header.samples,
    }
    read.frames += group.frames
    read.bytes += group.bytes
    lost.frames += missing
    lost.bytes = 0
    lost.isPadding = true
  }
  if (lost.bytes > 0 && !lost.isPadding) onDamage()
  const frames = read.frames + lost.frames
  const reason = isCut ? 'ends inside a frame' : `has ${frames} of the ${declaredFrames} frames its header declares`
  // Some encoders include the header frame in the count.
  if (frames > 0 && (isCut || frames < declaredFrames - 1)) warn(truncationWarning(name, reason))
}

/** Length of a tag between or after frames, bytes; 0 if there is none. */
function tagLength(bytes: Buffer): number {
  const id = bytes.toString('latin1', 0, 11)
  if (id.startsWith('TAG')) return 128
  if (id === 'LYRICSBEGIN') return bytes.length
  if (id.startsWith('APETAGEX') && bytes.length >= 16) return 32 + bytes.readUInt32LE(12)
  return id3Length(bytes)
}

interface FrameHeader {
  /** Bytes of the frame, including the header. */
  length: number
  /** Samples per channel. */
  samples: number
  /** Packed properties that are constant within a stream: version, sample rate, and whether it is mono. */
  format: number
}

/** Layer III bit rates by code, kbit/s: MPEG 1, then MPEG 2 and 2.5. */
const bitrates = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const
const rates = [44_100, 48_000, 32_000] as const

/** Layer III frame header at an offset; undefined if there is none, or if it does not contain the frame length. */
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

/** True if `chainLength` frames of one format follow each other from an offset; fewer suffice at the end of a file. */
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

/** Number of bytes before the next chain of frames, or before a possible start of one; at least 1. */
function nextChain(bytes: Buffer): number {
  for (let at = bytes.indexOf(0xff, 1); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    if (bytes.length === lookBytes && at > bytes.length / 2) break
    if (isChain(bytes, at)) return at
  }
  return bytes.length === lookBytes ? bytes.length / 2 : bytes.length
}

/** Measures the frames that are decoded at once. */
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

/** Number of frames declared in the first frame; 0 if it declares none. */
function readDeclaredFrames(bytes: Buffer): number {
  const at = Math.max(bytes.indexOf('Xing', 0, 'latin1'), bytes.indexOf('Info', 0, 'latin1'))
  if (at >= 0 && at <= 36 && bytes.length >= at + 12) return bytes[at + 7]! & 1 ? bytes.readUInt32BE(at + 8) : 0
  return bytes.toString('latin1', 36, 40) === 'VBRI' ? bytes.readUInt32BE(50) : 0
}
