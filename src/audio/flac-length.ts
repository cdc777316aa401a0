/** Bytes from the marker to the end of what is read here. */
const headBytes = 26
/** The marker stands at the start, or in the first page of an Ogg file. */
const furthest = 64

/** Bytes of a file that `flacLength` looks at. */
export const flacHeadBytes = furthest + headBytes

/**
 * Samples per channel that the STREAMINFO block of a FLAC file says it has, and its rate in Hz; undefined where a
 * writer did not know them. Source: RFC 9639, section 8.2.
 */
export function flacLength(bytes: Buffer): {samples: number; sampleRate: number} | undefined {
  const at = bytes.indexOf('fLaC', 0, 'latin1')
  if (at < 0 || at + headBytes > bytes.length) return undefined
  // 20 bits of rate, 3 of channels, 5 of depth, 36 of length.
  const packed = bytes.readBigUInt64BE(at + 18)
  const samples = Number(packed & 0xf_ffff_ffffn)
  const sampleRate = Number(packed >> 44n)
  return samples > 0 && sampleRate > 0 ? {samples, sampleRate} : undefined
}
