import {decodeImaAdpcm} from './ima-adpcm.js'
import {decodePcm} from './pcm.js'
import {type WaveFormat, writeWaveHeader} from './wave-header.js'

/** Decodes complete frames to a list of samples per channel. */
export type FrameDecoder = (frames: Buffer) => Float32Array[]

/**
 * Opens a decoder for companded or ADPCM samples; undefined for codecs that need ffmpeg. ADPCM is not decoded with the
 * package `wavefile`, which drops the last block of its input.
 */
export async function openWaveCodec(format: WaveFormat): Promise<FrameDecoder | undefined> {
  const {encoding, channels, frameBytes, bitsPerSample} = format
  if (encoding === 'alaw') return expander(format, 'fromALaw')
  if (encoding === 'mulaw') return expander(format, 'fromMuLaw')
  const whole = frameBytes > 4 * channels && frameBytes % (4 * channels) === 0
  if (encoding !== 'adpcm_ima_wav' || bitsPerSample !== 4 || !whole) return undefined
  return (blocks) => decodeImaAdpcm(blocks, frameBytes, channels)
}

/** `wavefile` reads only complete files, so each chunk of frames gets its own header. */
async function expander(format: WaveFormat, expand: 'fromALaw' | 'fromMuLaw'): Promise<FrameDecoder> {
  const {channels} = format
  const {WaveFile} = (await import('wavefile')).default
  return (frames) => {
    const wave = new WaveFile(Buffer.concat([writeWaveHeader(format.chunk, frames.length), frames]))
    wave[expand]()
    const {samples} = wave.data as {samples: Uint8Array}
    return decodePcm(samples, {encoding: 's16le', channels, frameBytes: 2 * channels})
  }
}
