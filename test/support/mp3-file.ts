/** Bytes and samples of a frame of 128 kbit/s at 44.1 kHz, without padding. */
export const mp3Frame = {bytes: 417, samples: 1152} as const

/** Silent MP3 frames. */
export function mp3Frames(count: number): Buffer {
  const frame = Buffer.alloc(mp3Frame.bytes)
  frame.writeUInt32BE(0xfffb_9004)
  return Buffer.concat(Array<Buffer>(count).fill(frame))
}

/** The frame with the number of frames that follow it. Source: the Xing header as mpg123 reads it. */
export function mp3Info(frames: number): Buffer {
  const frame = mp3Frames(1)
  frame.write('Xing', 36, 'latin1')
  frame.writeUInt32BE(1, 40)
  frame.writeUInt32BE(frames, 44)
  return frame
}
