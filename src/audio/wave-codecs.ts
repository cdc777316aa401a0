import type {FrameDecoder} from './wave.js'
import type {WaveFormat} from './wave-header.js'

/** Depths by which `wavefile` knows these encodings, and how they are made linear. */
const codecs = {
  alaw: {depth: '8a', expand: 'fromALaw'},
  mulaw: {depth: '8m', expand: 'fromMuLaw'},
  adpcm_ima_wav: {depth: '4', expand: 'fromIMAADPCM'},
} as const

/**
 * A decoder of the encodings that the package `wavefile` expands; undefined for others. Each piece of frames is put
 * behind a header of its own, since the package reads whole files: blocks of ADPCM do not depend on each other.
 */
export async function openWaveCodec(format: WaveFormat): Promise<FrameDecoder | undefined> {
  const {encoding, channels} = format
  if (!Object.hasOwn(codecs, encoding)) return undefined
  // The package reads one channel of ADPCM.
  if (encoding === 'adpcm_ima_wav' && (channels !== 1 || format.frameBytes < 5)) return undefined
  const {expand} = codecs[encoding as keyof typeof codecs]
  const {WaveFile} = (await import('wavefile')).default
  return (frames) => {
    const wave = new WaveFile(behindHeader(format, frames))
    wave[expand]()
    const samples = wave.getSamples(true, Int16Array) as unknown as Int16Array
    const mono = new Float32Array(Math.floor(samples.length / channels))
    for (let i = 0; i < mono.length; i++) {
      let sum = 0
      for (let channel = 0; channel < channels; channel++) sum += samples[i * channels + channel]!
      mono[i] = sum / channels / 32_768
    }
    return mono
  }
}

/** A RIFF file of these frames. */
function behindHeader({chunk}: WaveFormat, frames: Buffer): Buffer {
  const head = Buffer.alloc(12 + 8 + chunk.length + (chunk.length % 2) + 8)
  head.write('RIFF', 0, 'latin1')
  head.writeUInt32LE(head.length - 8 + frames.length, 4)
  head.write('WAVEfmt ', 8, 'latin1')
  head.writeUInt32LE(chunk.length, 16)
  chunk.copy(head, 20)
  head.write('data', head.length - 8, 'latin1')
  head.writeUInt32LE(frames.length, head.length - 4)
  return Buffer.concat([head, frames])
}
