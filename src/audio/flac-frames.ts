import type {ByteReader} from './byte-reader.js'
import {layoutOfMask} from './channel-layout.js'
import {crc8, crc16} from './crc.js'
import {flacHeadBytes, flacLength} from './flac-length.js'
import {type DecoderContext, truncationWarning} from './sound.js'
import type {Unit} from './unit.js'

/** Maximum length of a frame header. */
const headerBytes = 16
/** Bytes examined first, and the maximum length of a frame. */
const usualBytes = 32 << 10
const maxFrameBytes = 1 << 20
/** Maximum number of header-like byte sequences inside a frame; more mean that its end is missing. */
const maxFalseHeaders = 8

/**
 * The undamaged frames of a FLAC file with their positions. A frame is undamaged if the CRC-8 of its header and the
 * CRC-16 at its end are correct; other bytes are skipped. Source: RFC 9639, sections 8 and 9.
 * @param onDamage called for each damaged or lost frame
 */
export async function* flacFrames(
  reader: ByteReader,
  {name, warn}: DecoderContext,
  onDamage: () => void,
): AsyncGenerator<Unit, void, undefined> {
  let first: FrameHeader | undefined
  let mask = 0
  let begins = false
  let isAfterLoss = false
  let isCut = false
  let end = 0
  /** Samples of all files that were joined to one: those that their headers declare, and those before the current file. */
  let declaredSamples = 0
  let before = 0
  for (;;) {
    if (isStart(await reader.peek(startMarker.length))) {
      begins = true
      declaredSamples += flacLength(await reader.peek(flacHeadBytes))?.samples ?? 0
      mask = await readMetadata(reader)
      first = undefined
      before += end
      end = 0
    }
    const found = await readFrame(reader, first)
    isCut = found === 'cut'
    if (found === 'end' || found === 'cut') break
    if (found === undefined) {
      isAfterLoss = true
      onDamage()
      continue
    }
    const {header, bytes} = found
    first ??= header
    const start = header.isNumbered ? header.number * first.samples : header.number
    end = start + header.samples
    yield {packets: [bytes], isAfterLoss, begins, start, layout: layoutOfMask(mask, header.channels)}
    isAfterLoss = false
    begins = false
  }
  const isShort = before + end < declaredSamples
  const reason = isShort
    ? `has ${before + end} of the ${declaredSamples} samples its header declares`
    : 'ends inside a frame'
  if (first !== undefined && (isCut || isShort)) warn(truncationWarning(name, reason))
}

const startMarker = 'fLaC'
const isStart = (bytes: Buffer): boolean => bytes.toString('latin1') === startMarker

/** Type of the metadata block with the comments, and its maximum length, bytes. */
const commentType = 4
const maxCommentBytes = 1 << 20
const maskComment = /WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x([0-9a-f]{1,8})/i

/** Reads up to the first frame. Returns the mask of the loudspeakers; 0 if it is not specified. Source: RFC 9639, section 8.6.2. */
async function readMetadata(reader: ByteReader): Promise<number> {
  let mask = 0
  await reader.skip(startMarker.length)
  for (;;) {
    const head = await reader.peek(4)
    // 0xff is the first byte of a frame, and not a valid block type.
    if (head.length < 4 || head[0] === 0xff) return mask
    const length = 4 + head.readUIntBE(1, 3)
    if ((head[0]! & 0x7f) !== commentType || length > maxCommentBytes) await reader.skip(length)
    else {
      const comments = (await reader.read(length)).toString('latin1')
      mask = Number.parseInt(maskComment.exec(comments)?.[1] ?? '0', 16)
    }
    if (head[0]! & 0x80) return mask
  }
}

interface FrameHeader {
  /** Bytes. */
  length: number
  /** Samples per channel. */
  samples: number
  /** True if `number` counts frames (fixed block size), false if it counts samples (variable block size). */
  isNumbered: boolean
  number: number
  channels: number
  /** Packed properties that are constant within a file: block size strategy, sample rate, channels and depth. */
  format: number
}

/**
 * Reads the frame at the reader's position. Returns undefined if it is damaged, and moves the reader to the next header;
 * returns `cut` if the file ends inside the frame.
 */
async function readFrame(
  reader: ByteReader,
  first: FrameHeader | undefined,
): Promise<{header: FrameHeader; bytes: Buffer} | 'end' | 'cut' | undefined> {
  let bytes = await reader.peek(usualBytes)
  let isAll = bytes.length < usualBytes
  if (bytes.length === 0 || (isAll && tagLength(bytes) === bytes.length)) return 'end'
  const header = readHeader(bytes, 0, first)
  if (header === undefined) return skipToHeader(reader, first)
  let crc = 0
  let checked = 0
  let falseHeaders = 0
  /** End of the frame if the next header is damaged. */
  let beforeBroken: number | undefined
  /** Start of a file that is joined to this one; -1 if there is none. */
  let joint = bytes.indexOf(startMarker, header.length, 'latin1')
  /** True if that file begins inside the frame. */
  let isJoinedInside = false
  for (let at = bytes.indexOf(0xff, header.length); falseHeaders < maxFalseHeaders; at = bytes.indexOf(0xff, at + 1)) {
    if (joint >= 0 && (at < 0 || at > joint)) {
      if (crc16(bytes, checked, joint, crc) === 0) return {header, bytes: await reader.read(joint)}
      joint = -1
      isJoinedInside = true
    }
    if (at < 0 && isAll) {
      const length = bytes.length - tagLength(bytes)
      if (crc16(bytes, checked, length, crc) === 0) return {header, bytes: await reader.read(length)}
      if (falseHeaders === 0 && beforeBroken === undefined && !isJoinedInside) return 'cut'
      break
    }
    if (!isAll && (at < 0 || at + headerBytes > bytes.length)) {
      if (bytes.length >= maxFrameBytes) break
      at = (at < 0 ? bytes.length : at) - 1
      const length = 2 * bytes.length
      bytes = await reader.peek(length)
      isAll = bytes.length < length
      joint = bytes.indexOf(startMarker, Math.max(header.length, checked), 'latin1')
      continue
    }
    if (!isSync(bytes, at)) continue
    const next = readHeader(bytes, at, first)
    crc = crc16(bytes, checked, at, crc)
    checked = at
    if (crc === 0 && next === undefined) beforeBroken ??= at
    if (next === undefined) continue
    if (crc === 0) return {header, bytes: await reader.read(at)}
    if (next.number === header.number + (header.isNumbered ? 1 : header.samples)) break
    falseHeaders++
  }
  return beforeBroken === undefined ? skipToHeader(reader, first) : {header, bytes: await reader.read(beforeBroken)}
}

/** Bytes of the ID3v1 tag that some programs append to a file of any format. */
const tagLength = (bytes: Buffer): number =>
  bytes.length >= 128 && bytes.toString('latin1', bytes.length - 128, bytes.length - 125) === 'TAG' ? 128 : 0

/** Skips at least one byte, up to the next frame header, or the start of a file that is joined to this one. */
async function skipToHeader(reader: ByteReader, first: FrameHeader | undefined): Promise<undefined> {
  await reader.skip(1)
  for (let isAll = false; !isAll; ) {
    const bytes = await reader.peek(usualBytes)
    isAll = bytes.length < usualBytes
    const end = isAll ? bytes.length : bytes.length - headerBytes
    let at = bytes.indexOf(0xff)
    while (at >= 0 && at < end && readHeader(bytes, at, first) === undefined) at = bytes.indexOf(0xff, at + 1)
    const joint = bytes.indexOf(startMarker, 0, 'latin1')
    if (joint >= 0 && (at < 0 || joint < at)) at = joint
    const isFound = at >= 0 && at < end
    await reader.skip(isFound ? at : end)
    if (isFound) return undefined
  }
  return undefined
}

const isSync = (bytes: Buffer, at: number): boolean => bytes[at] === 0xff && (bytes[at + 1]! & 0xfe) === 0xf8

/**
 * Frame header at an offset; undefined if there is none, or if its format differs from that of the first frame. Source:
 * RFC 9639, section 9.1.
 */
function readHeader(bytes: Buffer, at: number, first: FrameHeader | undefined): FrameHeader | undefined {
  if (!isSync(bytes, at)) return undefined
  const codes = bytes[at + 2]!
  const [samplesCode, rateCode] = [codes >> 4, codes & 15]
  const layout = bytes[at + 3]!
  if (samplesCode === 0 || rateCode === 15 || layout >> 4 > 10 || (layout & 14) === 6 || layout & 1) return undefined
  // The three stereo decorrelation modes count as one format.
  const channels = 1 + (layout >> 4 > 7 ? 1 : layout >> 4)
  const format = ((bytes[at + 1]! & 1) << 12) | (rateCode << 8) | (channels << 4) | (layout & 14)
  if (first !== undefined && format !== first.format) return undefined
  const number = readNumber(bytes, at + 4)
  if (number === undefined) return undefined
  let length = 4 + number.length
  let samples = samplesCode === 1 ? 192 : samplesCode < 6 ? 144 << samplesCode : 1 << samplesCode
  if (samplesCode === 6) samples = 1 + bytes[at + length]!
  if (samplesCode === 7) samples = 1 + ((bytes[at + length]! << 8) | bytes[at + length + 1]!)
  length += samplesCode === 6 ? 1 : samplesCode === 7 ? 2 : 0
  length += rateCode === 12 ? 1 : rateCode > 12 ? 2 : 0
  if (at + length >= bytes.length || crc8(bytes, at, at + length) !== bytes[at + length]) return undefined
  return {length: length + 1, samples, isNumbered: (bytes[at + 1]! & 1) === 0, number: number.value, channels, format}
}

/** A number of up to 36 bits in the extended UTF-8 coding of FLAC. */
function readNumber(bytes: Buffer, at: number): {value: number; length: number} | undefined {
  const lead = bytes[at]
  if (lead === undefined || lead === 0xff) return undefined
  const ones = Math.clz32(~(lead << 24))
  if (ones === 0) return {value: lead, length: 1}
  if (ones === 1) return undefined
  let value = ones === 7 ? 0 : lead & (0x7f >> ones)
  for (let i = 1; i < ones; i++) {
    const byte = bytes[at + i]
    if (byte === undefined || (byte & 0xc0) !== 0x80) return undefined
    value = value * 64 + (byte & 0x3f)
  }
  return {value, length: ones}
}
