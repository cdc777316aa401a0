import type {ByteReader} from './byte-reader.js'
import {crc32} from './crc.js'

/** Length of the fixed page header; up to 255 segment sizes follow it. */
const headBytes = 27
const checksumAt = 22
/** Bytes searched at once for the next page. */
const strayBytes = 64 << 10

export interface OggPage {
  serial: number
  sequence: number
  /** The first or the last page of its stream. */
  isFirst: boolean
  isLast: boolean
  /** Its first segments continue a packet of the previous page. */
  continues: boolean
  /** Granule position at the end of the last packet that ends on the page; undefined if none does. */
  granule: number | undefined
  segments: Uint8Array
  body: Uint8Array
  /** True if other bytes were skipped before it. */
  isAfterLoss: boolean
}

/** The undamaged pages of an Ogg file; other bytes are skipped. Source: RFC 3533, section 6. */
export async function* oggPages(reader: ByteReader): AsyncGenerator<OggPage, void, undefined> {
  let isAfterLoss = false
  for (;;) {
    const head = await reader.peek(headBytes)
    if (head.length === 0) return
    const length = await pageLength(reader, head)
    if (length > 0) {
      yield readPage(await reader.read(length), isAfterLoss)
      isAfterLoss = false
    } else {
      isAfterLoss = true
      await reader.skip(await strayLength(reader))
    }
  }
}

/** Length of the page at the reader's position; 0 if there is none or it is damaged. */
async function pageLength(reader: ByteReader, head: Buffer): Promise<number> {
  if (head.length < headBytes || head.toString('latin1', 0, 4) !== 'OggS') return 0
  const table = headBytes + head[26]!
  const segments = (await reader.peek(table)).subarray(headBytes)
  const length = segments.reduce((sum, size) => sum + size, table)
  const page = await reader.peek(length)
  return page.length === length && checksum(page) === page.readUInt32LE(checksumAt) ? length : 0
}

const blank = new Uint8Array(4)

function checksum(page: Buffer): number {
  const before = crc32(page, 0, checksumAt, 0)
  return crc32(page, checksumAt + 4, page.length, crc32(blank, 0, 4, before))
}

function readPage(page: Buffer, isAfterLoss: boolean): OggPage {
  const table = headBytes + page[26]!
  const flags = page[5]!
  const granule = page.readBigInt64LE(6)
  return {
    serial: page.readUInt32LE(14),
    sequence: page.readUInt32LE(18),
    isFirst: (flags & 2) !== 0,
    isLast: (flags & 4) !== 0,
    continues: (flags & 1) !== 0,
    granule: granule < 0n ? undefined : Number(granule),
    segments: page.subarray(headBytes, table),
    body: page.subarray(table),
    isAfterLoss,
  }
}

/** Number of bytes to skip to reach the next page, or the end of the bytes searched. */
async function strayLength(reader: ByteReader): Promise<number> {
  const bytes = await reader.peek(strayBytes)
  const next = bytes.indexOf('OggS', 1, 'latin1')
  return next < 0 ? Math.max(1, bytes.length - 3) : next
}
