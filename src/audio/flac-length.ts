/** Bytes from the marker to the end of the fields read here. */
const headBytes = 26
/** The marker is at the start of the file, or within the first page of an Ogg file, bytes. */
const maxMarkerOffset = 64

/** Bytes that `flacLength` needs from the start of a file. */
export const flacHeadBytes = maxMarkerOffset + headBytes

/**
 * Samples per channel and sample rate (Hz) from the STREAMINFO block of a FLAC file; undefined if the encoder did not
 * know them. Source: RFC 9639, section 8.2.
 */
export function flacLength(bytes: Buffer): {samples: number; sampleRate: number} | undefined {
  const at = bytes.indexOf('fLaC', 0, 'latin1')
  if (at < 0 || at + headBytes > bytes.length) return undefined
  // 20 bits sample rate, 3 bits channels, 5 bits depth, 36 bits length.
  const packed = bytes.readBigUInt64BE(at + 18)
  const samples = Number(packed & 0xf_ffff_ffffn)
  const sampleRate = Number(packed >> 44n)
  return samples > 0 && sampleRate > 0 ? {samples, sampleRate} : undefined
}
