import {type ChannelLayout, flacLayout, vorbisLayout} from './channel-layout.js'

/** Decoded samples of one or more packets. */
export interface Decoded {
  channelData: Float32Array[]
  /** Per channel. */
  samplesDecoded: number
  /** Hz. */
  sampleRate: number
  errors: readonly {message: string}[]
  /** Samples at the start to discard: the codec's pre-skip. */
  skip: number
  layout: ChannelLayout
}

/** A WebAssembly decoder for packets. Call `free` when done. */
export interface PacketDecoder {
  decode(packets: readonly Uint8Array[]): Promise<Decoded>
  free(): void
}

type Samples = Omit<Decoded, 'skip' | 'layout'>

/** Result of packets without audio. */
export const silent: Decoded = {
  channelData: [],
  samplesDecoded: 0,
  sampleRate: 0,
  errors: [],
  skip: 0,
  layout: undefined,
}

/** Each packet is a complete frame, except the header packets of an Ogg file. */
export async function flacDecoder(): Promise<PacketDecoder> {
  const {FLACDecoder} = await import('@wasm-audio-decoders/flac')
  const decoder = new FLACDecoder()
  await decoder.ready
  let format: string | undefined
  return {
    async decode(packets) {
      const frames = packets.filter((packet) => packet[0] === 0xff)
      const [frame] = frames
      if (frame === undefined) return silent
      // The decoder drops the first frames of another format, unless it restarts.
      const mode = frame[3]! >> 4
      const next = [frame[2]! & 15, mode > 7 ? 1 : mode].join()
      if (format !== undefined && next !== format) await decoder.reset()
      format = next
      const decoded: Samples = await quietly(() => decoder.decodeFrames(frames))
      return {...decoded, skip: 0, layout: flacLayout(decoded.channelData.length)}
    },
    free: () => decoder.free(),
  }
}

/** All bytes of a call are frames of one format. */
export async function mpegDecoder(): Promise<PacketDecoder> {
  const {MPEGDecoder} = await import('mpg123-decoder')
  const decoder = new MPEGDecoder()
  await decoder.ready
  let format: string | undefined
  return {
    async decode([bytes]) {
      if (bytes === undefined) return silent
      // The decoder duplicates the channel of mono frames.
      const isMono = bytes[3]! >> 6 === 3
      const next = [bytes[1]! & 24, bytes[2]! & 12, isMono].join()
      // A file joined to another one is a stream of its own, with a delay at its start.
      if (format !== undefined && next !== format) await decoder.reset()
      format = next
      const decoded: Samples = quietly(() => decoder.decode(bytes))
      const channelData = isMono ? decoded.channelData.slice(0, 1) : decoded.channelData
      return {...decoded, channelData, skip: 0, layout: undefined}
    },
    free: () => decoder.free(),
  }
}

/** Source of the headers: RFC 7845, section 5. */
export async function opusDecoder(): Promise<PacketDecoder> {
  const {OpusDecoder} = await import('opus-decoder')
  let decoder: InstanceType<typeof OpusDecoder> | undefined
  let preSkip = 0
  let isVorbisOrder = false
  return {
    async decode(packets) {
      const audio: Uint8Array[] = []
      for (const packet of packets) {
        const bytes = Buffer.from(packet.buffer, packet.byteOffset, packet.byteLength)
        const id = bytes.toString('latin1', 0, 8)
        if (id === 'OpusHead') {
          decoder?.free()
          decoder = new OpusDecoder(opusOptions(bytes))
          preSkip = bytes.readUInt16LE(10)
          isVorbisOrder = bytes.readUInt8(18) === 1
          await decoder.ready
        } else if (id !== 'OpusTags') audio.push(packet)
      }
      const running = decoder
      if (running === undefined || audio.length === 0) return silent
      const decoded: Samples = quietly(() => running.decodeFrames(audio))
      const skip = Math.min(preSkip, decoded.samplesDecoded)
      preSkip -= skip
      return {...decoded, skip, layout: isVorbisOrder ? vorbisLayout(decoded.channelData.length) : undefined}
    },
    free: () => decoder?.free(),
  }
}

function opusOptions(head: Buffer) {
  const channels = head.readUInt8(9)
  if (head.readUInt8(18) === 0) return {channels}
  return {
    channels,
    streamCount: head.readUInt8(19),
    coupledStreamCount: head.readUInt8(20),
    channelMappingTable: [...head.subarray(21, 21 + channels)],
  }
}

/** Internal interface of the Vorbis decoder; its public one reads Ogg files and delays pages. */
interface VorbisPackets {
  sendSetupHeader(packet: Uint8Array): void
  initDsp(): void
  decodePackets(packets: readonly Uint8Array[]): Samples
}

/** Source of the headers: Vorbis I specification, section 4.2.1. */
export async function vorbisDecoder(): Promise<PacketDecoder> {
  const {OggVorbisDecoder} = await import('@wasm-audio-decoders/ogg-vorbis')
  const decoder = new OggVorbisDecoder()
  await decoder.ready
  const {_decoder: vorbis} = decoder as unknown as {_decoder: VorbisPackets}
  let state: 'new' | 'identified' | 'ready' = 'new'
  return {
    async decode(packets) {
      const audio: Uint8Array[] = []
      for (const packet of packets) {
        const type = packet[0] ?? 0
        if (type === 1) {
          if (state !== 'new') await decoder.reset()
          vorbis.sendSetupHeader(packet)
          state = 'identified'
        } else if (type === 5 && state === 'identified') {
          vorbis.sendSetupHeader(packet)
          vorbis.initDsp()
          state = 'ready'
        } else if (type % 2 === 0 && state === 'ready') audio.push(packet)
      }
      if (audio.length === 0) return silent
      const decoded = quietly(() => vorbis.decodePackets(audio))
      return {...decoded, skip: 0, layout: vorbisLayout(decoded.channelData.length)}
    },
    free: () => decoder.free(),
  }
}

/** Suppresses the messages that a decoder writes to the console in addition to its errors; they are synchronous. */
function quietly<T>(decode: () => T): T {
  const {error} = console
  console.error = () => undefined
  try {
    return decode()
  } finally {
    console.error = error
  }
}
