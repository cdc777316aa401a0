import {failed, rows, unavailable} from '../row.js'

/** Errors of audio files and their decoders. */
export const audioErrors = rows(() => ({
  audio_unrecognized: failed({
    http: 415,
    message: (p: {file: string; found: string}) => `${p.file} is not audio: it looks like ${p.found}.`,
    hint: 'Give a recording: WAV, FLAC, MP3, Ogg, or with ffmpeg any other format.',
  }),
  audio_invalid: failed({
    http: 422,
    message: (p: {file: string; reason: string}) => `${p.file} cannot be decoded: ${p.reason}.`,
    hint: 'Play the file to see whether it is damaged, or export it again as WAV.',
  }),
  audio_empty: failed({
    http: 422,
    message: (p: {file: string}) => `${p.file} has no sound in it.`,
    hint: 'Record again, or check the program that wrote the file.',
  }),
  audio_track_missing: failed({
    http: 422,
    message: (p: {file: string}) => `${p.file} has no audio track.`,
    hint: 'Give a file with sound: play it to check, or take the original recording.',
  }),
  decoder_unavailable: unavailable({
    http: 501,
    message: (p: {file: string; format: string}) =>
      `${p.file} is ${p.format}, which is decoded by ffmpeg, and ffmpeg is not on the PATH.`,
    hint: 'Install ffmpeg, or convert the recording to WAV, FLAC, MP3 or Ogg.',
  }),
}))
