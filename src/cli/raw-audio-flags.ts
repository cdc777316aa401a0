import {Flags} from '@oclif/core'
import type {RawPcm} from '../audio/index.js'

/** The encoding of recordings without a header. */
export const rawAudioFlags = {
  'raw-encoding': Flags.option({
    description: 'Sample encoding of raw recordings (PCM without a header).',
    options: ['u8', 's16le', 's24le', 's32le', 'f32le', 'f64le'] as const,
  })(),
  'raw-rate': Flags.integer({
    description: 'Sample rate of raw recordings in Hz.',
    default: 16_000,
    min: 1000,
    max: 768_000,
    helpValue: 'HZ',
  }),
  'raw-channels': Flags.integer({
    description: 'Number of channels of raw recordings.',
    default: 1,
    min: 1,
    max: 64,
    helpValue: 'N',
  }),
}

/** The encoding that the flags set, if any. */
export const rawAudioOf = (flags: {
  'raw-encoding'?: RawPcm['encoding'] | undefined
  'raw-rate': number
  'raw-channels': number
}): RawPcm | undefined => {
  const {'raw-encoding': encoding, 'raw-rate': sampleRate, 'raw-channels': channels} = flags
  return encoding === undefined ? undefined : {encoding, sampleRate, channels}
}
