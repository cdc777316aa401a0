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

/** The indices of the channels to decode: one, or all if it is undefined. @param channel from 1 */
export const channelRange = (channel: number | undefined, channels: number): {first: number; end: number} =>
  channel === undefined ? {first: 0, end: channels} : {first: channel - 1, end: Math.min(channel, channels)}

/**
 * Decodes interleaved samples of one channel, or mixes all channels down to their mean.
 * @param bytes complete frames
 * @param frameBytes distance between two frames, at least `channels * sampleBytes`
 * @param channel from 1
 */
export function decodePcm(
  bytes: Uint8Array,
  {encoding, channels, frameBytes}: {encoding: PcmEncoding; channels: number; frameBytes: number},
  channel?: number,
): Float32Array {
  const {first, end} = channelRange(channel, channels)
  const {bytes: width, read} = encodings[encoding]
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const mono = new Float32Array(Math.floor(bytes.byteLength / frameBytes))
  for (let i = 0; i < mono.length; i++) {
    let sum = 0
    for (let at = first; at < end; at++) sum += read(view, i * frameBytes + at * width)
    mono[i] = sum / (end - first)
  }
  return mono
}

/** Decodes 16-bit little-endian samples of one channel. */
export const decodeS16le = (bytes: Uint8Array): Float32Array =>
  decodePcm(bytes, {encoding: 's16le', channels: 1, frameBytes: 2})

/** Encodes samples of one channel as 16-bit little-endian samples; louder ones are clipped. */
export function encodeS16le(samples: Float32Array): Buffer {
  const bytes = Buffer.alloc(2 * samples.length)
  for (let i = 0; i < samples.length; i++)
    bytes.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(32_768 * samples[i]!))), 2 * i)
  return bytes
}

/** One of the planar channels, or their mean. A channel that a part of a recording lacks is silent there. */
export function mixDown(channels: readonly Float32Array[], channel?: number): Float32Array {
  const [first] = channels
  if (channel !== undefined) return channels[channel - 1] ?? new Float32Array(first?.length ?? 0)
  if (first === undefined || channels.length === 1) return first ?? new Float32Array(0)
  const mono = new Float32Array(first.length)
  for (const channel of channels) for (let i = 0; i < mono.length; i++) mono[i]! += channel[i]! / channels.length
  return mono
}
