import {crc8, crc16} from '../../src/audio/crc.js'

/** Samples per frame, except the last one. */
export const flacFrameSamples = 4096

/**
 * A 16-bit FLAC file at 16 kHz with verbatim subframes. Source: RFC 9639, sections 8 and 9.
 * @param samples -1 to 1
 */
export function flacFile(samples: Float32Array): {bytes: Buffer; frames: Buffer[]} {
  const frames: Buffer[] = []
  for (let at = 0; at < samples.length; at += flacFrameSamples)
    frames.push(frame(samples.subarray(at, at + flacFrameSamples), frames.length))
  return {bytes: Buffer.concat([streamInfo(samples.length), ...frames]), frames}
}

function streamInfo(samples: number): Buffer {
  const head = Buffer.alloc(42)
  head.write('fLaC', 'latin1')
  head[4] = 0x80
  head.writeUIntBE(34, 5, 3)
  head.writeUInt16BE(flacFrameSamples, 8)
  head.writeUInt16BE(flacFrameSamples, 10)
  // 20 bits sample rate, 3 bits channels - 1, 5 bits sample size - 1, 36 bits length.
  head.writeBigUInt64BE((16_000n << 44n) | (15n << 36n) | BigInt(samples), 18)
  return head
}

function frame(samples: Float32Array, number: number): Buffer {
  if (number > 127) throw new Error('A number of more than one byte is not written here.')
  // 16-bit block size after the frame number, 16 kHz; one 16-bit channel.
  const head = Buffer.from([0xff, 0xf8, 0x75, 0x08, number, 0, 0, 0])
  head.writeUInt16BE(samples.length - 1, 5)
  head[7] = crc8(head, 0, 7)
  const body = Buffer.alloc(1 + 2 * samples.length)
  body[0] = 2
  for (let i = 0; i < samples.length; i++) body.writeInt16BE(Math.round(32_767 * samples[i]!), 1 + 2 * i)
  const bytes = Buffer.concat([head, body, Buffer.alloc(2)])
  bytes.writeUInt16BE(crc16(bytes, 0, bytes.length - 2, 0), bytes.length - 2)
  return bytes
}
