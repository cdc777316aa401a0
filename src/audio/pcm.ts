/** Encodings of linear little-endian samples, by their ffmpeg names. */
const encodings = {
  u8: {bytes: 1, read: (view: DataView, at: number) => (view.getUint8(at) - 128) / 128},
  s16le: {bytes: 2, read: (view: DataView, at: number) => view.getInt16(at, true) / 32_768},
  s24le: {
    bytes: 3,
    read: (view: DataView, at: number) =>
      ((view.getUint16(at, true) | (view.getInt8(at + 2) << 16)) / 8_388_608) as number,
  },
  s32le: {bytes: 4, read: (view: DataView, at: number) => view.getInt32(at, true) / 2_147_483_648},
  f32le: {bytes: 4, read: (view: DataView, at: number) => view.getFloat32(at, true)},
  f64le: {bytes: 8, read: (view: DataView, at: number) => view.getFloat64(at, true)},
} as const

export type PcmEncoding = keyof typeof encodings

export const pcmEncodings = Object.keys(encodings) as readonly PcmEncoding[]

/** Bytes of one sample of one channel. */
export const sampleBytes = (encoding: PcmEncoding): number => encodings[encoding].bytes

/**
 * Decodes interleaved samples to a list per channel.
 * @param bytes complete frames
 * @param frameBytes distance between two frames, at least `channels * sampleBytes`
 */
export function decodePcm(
  bytes: Uint8Array,
  {encoding, channels, frameBytes}: {encoding: PcmEncoding; channels: number; frameBytes: number},
): Float32Array[] {
  const {bytes: width, read} = encodings[encoding]
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const frames = Math.floor(bytes.byteLength / frameBytes)
  return Array.from({length: channels}, (_, channel) => {
    const samples = new Float32Array(frames)
    for (let i = 0, at = channel * width; i < frames; i++, at += frameBytes) samples[i] = read(view, at)
    return samples
  })
}

/** Decodes 16-bit little-endian samples of one channel. */
export const decodeS16le = (bytes: Uint8Array): Float32Array =>
  decodePcm(bytes, {encoding: 's16le', channels: 1, frameBytes: 2})[0] as Float32Array

/** Encodes samples of one channel as 16-bit little-endian samples; louder ones are clipped. */
export function encodeS16le(samples: Float32Array): Buffer {
  const bytes = Buffer.alloc(2 * samples.length)
  for (let i = 0; i < samples.length; i++)
    bytes.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(32_768 * samples[i]!))), 2 * i)
  return bytes
}
