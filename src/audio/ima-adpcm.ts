/** Change of the step index for the lower three bits of a code. */
const indexSteps = [-1, -1, -1, -1, 2, 4, 6, 8]

const steps = [
  7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73, 80, 88, 97, 107, 118,
  130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449, 494, 544, 598, 658, 724, 796, 876, 963, 1060,
  1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749, 3024, 3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484,
  7132, 7845, 8630, 9493, 10_442, 11_487, 12_635, 13_899, 15_289, 16_818, 18_500, 20_350, 22_385, 24_623, 27_086,
  29_794, 32_767,
]

/** Bytes of each channel's block header: its first sample and its step index. */
const headBytes = 4

/**
 * Decodes complete blocks of IMA ADPCM in the WAV layout to a list per channel. Blocks are independent: a header per
 * channel, then eight codes per channel in turn, the lower half of a byte first.
 * Source: IMA Digital Audio Focus and Technical Working Groups, Recommended Practices, revision 3.00.
 */
export function decodeImaAdpcm(blocks: Uint8Array, blockBytes: number, channels: number): Float32Array[] {
  const samplesPerBlock = 1 + (2 * (blockBytes - headBytes * channels)) / channels
  const count = Math.floor(blocks.length / blockBytes)
  return Array.from({length: channels}, (_, channel) => {
    const samples = new Float32Array(count * samplesPerBlock)
    for (let block = 0; block < count; block++) {
      const bytes = blocks.subarray(block * blockBytes, (block + 1) * blockBytes)
      decodeChannel(bytes, channel, channels, samples.subarray(block * samplesPerBlock, (block + 1) * samplesPerBlock))
    }
    return samples
  })
}

function decodeChannel(block: Uint8Array, channel: number, channels: number, out: Float32Array): void {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength)
  let sample = view.getInt16(headBytes * channel, true)
  let index = Math.min(steps.length - 1, block[headBytes * channel + 2]!)
  out[0] = sample / 32_768
  for (let i = 0; i + 1 < out.length; i++) {
    const at = headBytes * channels + (i >> 3) * 4 * channels + 4 * channel + ((i & 7) >> 1)
    const code = (block[at]! >> (4 * (i & 1))) & 15
    sample = next(sample, steps[index]!, code)
    index = Math.max(0, Math.min(steps.length - 1, index + indexSteps[code & 7]!))
    out[i + 1] = sample / 32_768
  }
}

/** The difference is `step * (code + 1/2) / 4`, with the integer rounding of the standard. */
function next(sample: number, step: number, code: number): number {
  let difference = step >> 3
  if (code & 4) difference += step
  if (code & 2) difference += step >> 1
  if (code & 1) difference += step >> 2
  return Math.max(-32_768, Math.min(32_767, code & 8 ? sample - difference : sample + difference))
}
