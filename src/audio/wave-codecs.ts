import {decodeImaAdpcm} from './ima-adpcm.js'
import {decodePcm} from './pcm.js'
import {type WaveFormat, writeWaveHeader} from './wave-header.js'

/** Whole frames of bytes in, one channel out. */
export type FrameDecoder = (frames: Buffer) => Float32Array

/**
 * A decoder of samples that are not linear; undefined for codecs that are left to ffmpeg. The package `wavefile` knows
 * ADPCM too, but loses the last block of what it is given.
 */
export async function openWaveCodec(format: WaveFormat): Promise<FrameDecoder | undefined> {
  const {encoding, channels, frameBytes, bitsPerSample} = format
  if (encoding === 'alaw') return expander(format, 'fromALaw')
  if (encoding === 'mulaw') return expander(format, 'fromMuLaw')
  const whole = frameBytes > 4 * channels && frameBytes % (4 * channels) === 0
  if (encoding !== 'adpcm_ima_wav' || bitsPerSample !== 4 || !whole) return undefined
  return (blocks) => decodeImaAdpcm(blocks, frameBytes, channels)
}

/** The package reads whole files, so each piece of frames is put behind a header of its own. */
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
