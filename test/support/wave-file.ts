/** How the samples of a written WAV file are encoded. */
export interface WaveFile {
  /** -1 to 1, one list per channel. */
  channels: readonly Float32Array[]
  sampleRate: number
  encoding: 'u8' | 's16le' | 's24le' | 's32le' | 'f32le' | 'f64le'
  /** Writes WAVE_FORMAT_EXTENSIBLE instead of the short header. */
  extensible?: boolean
  /** Loudspeakers of the channels, with the extensible header. */
  mask?: number
  /** RF64 with its sizes in `ds64`. */
  rf64?: boolean
  /** RIFX: all numbers are big-endian. */
  rifx?: boolean
  /** Data size in the header, if different from the real number of bytes. */
  dataBytes?: number
  /** Chunks before the data chunk, by name. */
  before?: Readonly<Record<string, Uint8Array>>
  /** Bytes after the data chunk. */
  after?: Uint8Array
}

const widths = {u8: 1, s16le: 2, s24le: 3, s32le: 4, f32le: 4, f64le: 8} as const

/** A WAV file in memory, valid or not. */
export function waveFile(file: WaveFile): Buffer {
  const bytes = littleEndianFile(file)
  return file.rifx ? bigEndian(bytes, file) : bytes
}

/** Sizes of the header fields of a file without other chunks, from the file size on. Chunk names are never swapped. */
const headerFields = [4, 'name', 'name', 4, 2, 2, 4, 4, 2, 2, 2, 2, 4, 4, 2, 2] as const

/** A file with only a format and a data chunk, with the bytes of each number swapped. */
function bigEndian(bytes: Buffer, {encoding}: WaveFile): Buffer {
  const data = bytes.indexOf('data')
  let at = 4
  for (const field of headerFields) {
    const width = field === 'name' ? 4 : field
    if (field !== 'name' && at < data) bytes.subarray(at, at + width).reverse()
    at += width
  }
  bytes.subarray(data + 4, data + 8).reverse()
  for (let i = data + 8; i < bytes.length; i += widths[encoding]) bytes.subarray(i, i + widths[encoding]).reverse()
  bytes.write('RIFX', 'latin1')
  return bytes
}

function littleEndianFile({channels, sampleRate, encoding, extensible, mask = 0, rf64, ...rest}: WaveFile): Buffer {
  const data = samplesOf(channels, encoding)
  const size = rest.dataBytes ?? data.length
  const chunks = [
    ...(rf64 ? [chunk('ds64', sizes64(data.length))] : []),
    ...Object.entries(rest.before ?? {}).map(([name, bytes]) => chunk(name, bytes)),
    chunk('fmt ', formatOf(channels.length, sampleRate, encoding, extensible ? mask : undefined)),
  ]
  const head = Buffer.alloc(8)
  head.write('data', 'latin1')
  head.writeUInt32LE(rf64 ? 0xffff_ffff : size, 4)
  const body = Buffer.concat([...chunks, head, data, rest.after ?? Buffer.alloc(0)])
  const riff = Buffer.alloc(12)
  riff.write(rf64 ? 'RF64' : 'RIFF', 'latin1')
  riff.writeUInt32LE(rf64 ? 0xffff_ffff : 4 + body.length, 4)
  riff.write('WAVE', 8, 'latin1')
  return Buffer.concat([riff, body])
}

/** One 16-bit channel at 16 kHz, like most speech recordings. */
export const monoWave = (samples: Float32Array, changes: Partial<WaveFile> = {}): Buffer =>
  waveFile({channels: [samples], sampleRate: 16_000, encoding: 's16le', ...changes})

function samplesOf(channels: readonly Float32Array[], encoding: WaveFile['encoding']): Buffer {
  const width = widths[encoding]
  const frames = channels[0]?.length ?? 0
  const out = Buffer.alloc(frames * channels.length * width)
  for (let i = 0; i < frames; i++)
    for (const [channel, samples] of channels.entries())
      write(out, samples[i]!, (i * channels.length + channel) * width, encoding)
  return out
}

function write(out: Buffer, value: number, at: number, encoding: WaveFile['encoding']): void {
  const scaled = (bits: number) =>
    Math.max(-(2 ** (bits - 1)), Math.min(2 ** (bits - 1) - 1, Math.round(value * 2 ** (bits - 1))))
  if (encoding === 'u8') out.writeUInt8(scaled(8) + 128, at)
  else if (encoding === 's16le') out.writeInt16LE(scaled(16), at)
  else if (encoding === 's24le') out.writeIntLE(scaled(24), at, 3)
  else if (encoding === 's32le') out.writeInt32LE(scaled(32), at)
  else if (encoding === 'f32le') out.writeFloatLE(value, at)
  else out.writeDoubleLE(value, at)
}

function formatOf(channels: number, sampleRate: number, encoding: WaveFile['encoding'], mask?: number): Buffer {
  const width = widths[encoding]
  const tag = encoding.startsWith('f') ? 3 : 1
  const format = Buffer.alloc(mask === undefined ? 16 : 40)
  format.writeUInt16LE(mask === undefined ? tag : 0xfffe, 0)
  format.writeUInt16LE(channels, 2)
  format.writeUInt32LE(sampleRate, 4)
  format.writeUInt32LE(sampleRate * channels * width, 8)
  format.writeUInt16LE(channels * width, 12)
  format.writeUInt16LE(8 * width, 14)
  if (mask === undefined) return format
  format.writeUInt16LE(22, 16)
  format.writeUInt16LE(8 * width, 18)
  format.writeUInt32LE(mask, 20)
  format.writeUInt16LE(tag, 24)
  Buffer.from('000000001000800000aa00389b71', 'hex').copy(format, 26)
  return format
}

function sizes64(dataBytes: number): Buffer {
  const sizes = Buffer.alloc(28)
  sizes.writeBigUInt64LE(BigInt(dataBytes + 36), 0)
  sizes.writeBigUInt64LE(BigInt(dataBytes), 8)
  return sizes
}

function chunk(name: string, bytes: Uint8Array): Buffer {
  const head = Buffer.alloc(8)
  head.write(name, 'latin1')
  head.writeUInt32LE(bytes.length, 4)
  return Buffer.concat([head, bytes, Buffer.alloc(bytes.length % 2)])
}
