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
}

/** A WebAssembly decoder for packets. Call `free` when done. */
export interface PacketDecoder {
  decode(packets: readonly Uint8Array[]): Promise<Decoded>
  free(): void
}

type Samples = Omit<Decoded, 'skip'>

/** Result of packets without audio. */
export const silent: Decoded = {channelData: [], samplesDecoded: 0, sampleRate: 0, errors: [], skip: 0}

/** Each packet is a complete frame, except the header packets of an Ogg file. */
export async function flacDecoder(): Promise<PacketDecoder> {
  const {FLACDecoder} = await import('@wasm-audio-decoders/flac')
  const decoder = new FLACDecoder()
  await decoder.ready
  return {
    async decode(packets) {
      const frames = packets.filter((packet) => packet[0] === 0xff)
      return frames.length === 0 ? silent : {...(await quietly(() => decoder.decodeFrames(frames))), skip: 0}
    },
    free: () => decoder.free(),
  }
}

export async function mpegDecoder(): Promise<PacketDecoder> {
  const {MPEGDecoder} = await import('mpg123-decoder')
  const decoder = new MPEGDecoder()
  await decoder.ready
  return {
    async decode([bytes]) {
      if (bytes === undefined) return silent
      const decoded: Samples = quietly(() => decoder.decode(bytes))
      // The decoder duplicates the channel of mono frames.
      const isMono = bytes[3]! >> 6 === 3
      return {...decoded, channelData: isMono ? decoded.channelData.slice(0, 1) : decoded.channelData, skip: 0}
    },
    free: () => decoder.free(),
  }
}

/** Source of the headers: RFC 7845, section 5. */
export async function opusDecoder(): Promise<PacketDecoder> {
  const {OpusDecoder} = await import('opus-decoder')
  let decoder: InstanceType<typeof OpusDecoder> | undefined
  let preSkip = 0
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
          await decoder.ready
        } else if (id !== 'OpusTags') audio.push(packet)
      }
      const running = decoder
      if (running === undefined || audio.length === 0) return silent
      const decoded: Samples = quietly(() => running.decodeFrames(audio))
      const skip = Math.min(preSkip, decoded.samplesDecoded)
      preSkip -= skip
      return {...decoded, skip}
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
      return audio.length === 0 ? silent : {...quietly(() => vorbis.decodePackets(audio)), skip: 0}
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
