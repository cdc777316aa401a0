import {failed, rows, unavailable} from '../row.js'

/** Errors of audio files and their decoders. */
export const audioErrors = rows(() => ({
  audio_unrecognized: failed({
    http: 415,
    message: (p: {file: string; found: string}) => `${p.file} is not audio: it looks like ${p.found}.`,
    hint: 'Pass a WAV, FLAC, MP3 or Ogg file. Other audio formats need ffmpeg.',
  }),
  audio_invalid: failed({
    http: 422,
    message: (p: {file: string; reason: string}) => `${p.file} cannot be decoded: ${p.reason}.`,
    hint: 'Play the file to check whether it is damaged, or export it as WAV.',
  }),
  audio_empty: failed({
    http: 422,
    message: (p: {file: string}) => `${p.file} contains no audio samples.`,
    hint: 'Check the program that recorded the file.',
  }),
  audio_track_missing: failed({
    http: 422,
    message: (p: {file: string}) => `${p.file} has no audio track.`,
    hint: 'Pass a file that contains audio.',
  }),
  decoder_unavailable: unavailable({
    http: 501,
    message: (p: {file: string; format: string}) =>
      `${p.file} is ${p.format}, which needs ffmpeg, and ffmpeg is not on the PATH.`,
    hint: 'Install ffmpeg, or convert the recording to WAV, FLAC, MP3 or Ogg.',
  }),
}))
