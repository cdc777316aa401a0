/** Lookup table of a CRC; `polynomial` is given without its highest term. */
function crcTable(bits: 8 | 16 | 32, polynomial: number): Uint32Array {
  const high = 2 ** (bits - 1)
  const mask = bits === 32 ? 0xffff_ffff : 2 ** bits - 1
  return Uint32Array.from({length: 256}, (_, byte) => {
    let remainder = byte << (bits - 8)
    for (let bit = 0; bit < 8; bit++) remainder = (remainder << 1) ^ (remainder & high ? polynomial : 0)
    return remainder & mask
  })
}

const table8 = crcTable(8, 0x07)
const table16 = crcTable(16, 0x8005)
const table32 = crcTable(32, 0x04c1_1db7)

/** CRC-8 of a FLAC frame header, over bytes `[from, to)` (RFC 9639, section 9.1.8). */
export function crc8(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0
  for (let i = from; i < to; i++) crc = table8[crc ^ bytes[i]!]!
  return crc
}

/** CRC-16 of a FLAC frame (RFC 9639, section 9.3), continued from `before`; 0 over a frame including its own CRC. */
export function crc16(bytes: Uint8Array, from: number, to: number, before: number): number {
  let crc = before
  for (let i = from; i < to; i++) crc = ((crc << 8) & 0xffff) ^ table16[(crc >> 8) ^ bytes[i]!]!
  return crc
}

/** CRC-32 of an Ogg page with a zeroed checksum field (RFC 3533, section 6), continued from `before`. */
export function crc32(bytes: Uint8Array, from: number, to: number, before: number): number {
  let crc = before
  for (let i = from; i < to; i++) crc = (crc << 8) ^ table32[(crc >>> 24) ^ bytes[i]!]!
  return crc >>> 0
}
