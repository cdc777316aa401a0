import {crc32} from '../../src/audio/crc.js'

export interface OggPageParts {
  packets: readonly (string | Uint8Array)[]
  serial?: number
  sequence?: number
  /** Granule position: samples at the end of the page; 0 by default. */
  granule?: number
  isFirst?: boolean
  isLast?: boolean
  /** The first packet is continued from the previous page. */
  continues?: boolean
  /** The last packet, whose length is a multiple of 255, continues on the next page. */
  isOpen?: boolean
}

/** A page of an Ogg file, with its checksum. Source: RFC 3533, section 6. */
export function oggPage({packets, isOpen, ...page}: OggPageParts): Buffer {
  const lacing = packets.flatMap(({length}) => [...Array<number>(Math.floor(length / 255)).fill(255), length % 255])
  if (isOpen) lacing.pop()
  const head = Buffer.alloc(27)
  head.write('OggS', 'latin1')
  head[5] = (page.continues ? 1 : 0) | (page.isFirst ? 2 : 0) | (page.isLast ? 4 : 0)
  head.writeBigInt64LE(BigInt(page.granule ?? 0), 6)
  head.writeUInt32LE(page.serial ?? 1, 14)
  head.writeUInt32LE(page.sequence ?? 0, 18)
  head[26] = lacing.length
  const bytes = Buffer.concat([head, Buffer.from(lacing), ...packets.map((packet) => Buffer.from(packet as string))])
  bytes.writeUInt32LE(crc32(bytes, 0, bytes.length, 0), 22)
  return bytes
}
