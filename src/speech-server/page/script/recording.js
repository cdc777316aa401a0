/** Audio of a recording, 16-bit samples, mono at 16 kHz. */

export const rate = 16_000

export class Recording {
  #samples = new Int16Array(60 * rate)
  length = 0

  push(samples) {
    const length = this.length + samples.length
    if (length > this.#samples.length) {
      const larger = new Int16Array(Math.max(length, 2 * this.#samples.length))
      larger.set(this.#samples)
      this.#samples = larger
    }
    this.#samples.set(samples, this.length)
    this.length = length
  }

  /** The samples from a position on, at most `limit`. */
  from(position, limit) {
    return this.#samples.subarray(position, Math.min(this.length, position + limit))
  }

  get all() {
    return this.#samples.subarray(0, this.length)
  }
}

/** A WAV file of 16-bit samples. */
export function waveFile(samples) {
  const header = new DataView(new ArrayBuffer(44))
  const write = (at, text) => {
    for (const [i, letter] of [...text].entries()) header.setUint8(at + i, letter.charCodeAt(0))
  }
  write(0, 'RIFF')
  header.setUint32(4, 36 + 2 * samples.length, true)
  write(8, 'WAVEfmt ')
  header.setUint32(16, 16, true)
  header.setUint16(20, 1, true)
  header.setUint16(22, 1, true)
  header.setUint32(24, rate, true)
  header.setUint32(28, 2 * rate, true)
  header.setUint16(32, 2, true)
  header.setUint16(34, 16, true)
  write(36, 'data')
  header.setUint32(40, 2 * samples.length, true)
  return new Blob([header, samples], {type: 'audio/wav'})
}

/**
 * Decodes an audio file in the browser, resampled to 16 kHz and mixed to mono.
 * @returns undefined if the browser cannot decode it
 */
export async function decodeFile(file) {
  try {
    const context = new OfflineAudioContext(1, 1, rate)
    const buffer = await context.decodeAudioData(await file.arrayBuffer())
    const channels = Array.from({length: buffer.numberOfChannels}, (_, i) => buffer.getChannelData(i))
    const samples = new Int16Array(buffer.length)
    for (let i = 0; i < samples.length; i++) {
      let sum = 0
      for (const channel of channels) sum += channel[i]
      samples[i] = Math.round(32_767 * Math.max(-1, Math.min(1, sum / channels.length)))
    }
    return samples
  } catch {
    return undefined
  }
}
