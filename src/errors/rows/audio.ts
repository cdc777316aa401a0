import {failed, rows, unavailable} from '../row.js'

/** Errors of audio files and their decoders. */
export const audioErrors = rows(() => ({
  audio_unrecognized: failed({
    http: 415,
    message: (p: {file: string; found: string}) => `${p.file} is not audio: it looks like ${p.found}.`,
    hint: 'Use a recording in WAV, FLAC, MP3 or Ogg, or install ffmpeg for other audio formats.',
  }),
  audio_invalid: failed({
    http: 422,
    message: (p: {file: string; reason: string}) => `Cannot decode ${p.file}: ${p.reason}.`,
    hint: 'Play the file to check whether it is damaged, or export it again as WAV.',
  }),
  audio_empty: failed({
    http: 422,
    message: (p: {file: string}) => `${p.file} contains no audio samples.`,
    hint: 'Record it again, or check the program that wrote the file.',
  }),
  audio_track_missing: failed({
    http: 422,
    message: (p: {file: string}) => `${p.file} has no audio track.`,
    hint: 'Use a file with sound, for example the original recording.',
  }),
  recorder_missing: unavailable({
    message: (p: {programs: readonly string[]}) =>
      `No program that records from a microphone is on the PATH; svc looked for ${p.programs.join(', ')}.`,
    hint: 'Install one of them, such as alsa-utils (arecord) on Linux or sox on macOS, or pass a file or - instead.',
  }),
  recorder_failed: unavailable({
    message: (p: {program: string; reason: string}) => `Recording with ${p.program} failed: ${p.reason}.`,
    hint: 'Check that a microphone is connected, or choose one of svc listen --list-microphones with --microphone.',
  }),
  decoder_unavailable: unavailable({
    http: 501,
    message: (p: {file: string; format: string}) =>
      `Cannot decode ${p.file}: ${p.format} requires ffmpeg, and ffmpeg is not on the PATH.`,
    hint: 'Install ffmpeg, or convert the recording to WAV, FLAC, MP3 or Ogg.',
  }),
}))
