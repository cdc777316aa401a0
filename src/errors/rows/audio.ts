import {failed, rows, unavailable, usage} from '../row.js'

/** Errors of audio files and their decoders. */
export const audioErrors = rows(() => ({
  audio_unrecognized: failed({
    http: 415,
    message: (p: {file: string; found: string}) => `${p.file} is not audio: it looks like ${p.found}.`,
    hint: 'Use a recording in WAV, FLAC, MP3 or Ogg, or install ffmpeg for other audio formats.',
    param: (_: object) => 'file',
  }),
  audio_invalid: failed({
    http: 400,
    message: (p: {file: string; reason: string}) => `Cannot decode ${p.file}: ${p.reason}.`,
    hint: 'Play the file to check whether it is damaged, or export it again as WAV.',
    param: (_: object) => 'file',
  }),
  audio_empty: failed({
    http: 400,
    message: (p: {file: string}) => `${p.file} contains no audio samples.`,
    hint: 'Record the audio again, or check the program that wrote the file.',
    param: (_: object) => 'file',
  }),
  audio_track_missing: failed({
    http: 400,
    message: (p: {file: string}) => `${p.file} has no audio track.`,
    hint: 'Use a file with sound, for example the original recording.',
    param: (_: object) => 'file',
  }),
  audio_track_unknown: failed({
    http: 400,
    message: (p: {file: string; track: number | string; tracks: string}) =>
      `${p.file} has no audio track ${p.track}; its tracks are: ${p.tracks}.`,
    hint: 'Pass the number or the language of an existing audio track.',
    param: (_: object) => 'file',
  }),
  audio_tracks_need_file: usage({
    message: (p: {file: string}) =>
      `Cannot select an audio track of ${p.file} by its language: it is not a file, and its tracks are unknown.`,
    hint: 'Save the recording to a file first, or select the track by its number with --audio-track N.',
    param: (_: object) => 'file',
  }),
  audio_channel_missing: failed({
    http: 400,
    message: (p: {file: string; channel: number; channels: number}) =>
      `${p.file} has no channel ${p.channel}: ${p.channels === 1 ? 'it is mono' : `it has ${p.channels} channels`}.`,
    hint: 'Pass the number of an existing channel, or --channels split to transcribe each channel.',
    param: (_: object) => 'file',
  }),
  channels_need_file: usage({
    message: (p: {file: string}) =>
      `Cannot transcribe each channel of ${p.file}: it is read once per channel, and is not a regular file.`,
    hint: 'Save the recording to a file first, or select one channel with --channels N.',
    param: (_: object) => 'file',
  }),
  invalid_path: usage({
    message: (p: {path: string; reason: string}) => `The path ${JSON.stringify(p.path)} is invalid: ${p.reason}.`,
    hint: 'Send a path relative to the workspace, or an absolute path inside it.',
  }),
  not_a_file: usage({
    message: (p: {path: string}) => `${p.path} is not a regular file.`,
    hint: 'Send the path of a recording, not of a directory, pipe or device.',
  }),
  missing_audio_field: usage({
    message: () => 'The upload contains no recording.',
    hint: 'Send the recording as multipart/form-data in a part named audio or file.',
    param: (_: object) => 'file',
  }),
  multipart_read_failed: usage({
    message: (p: {reason: string}) => `Cannot read the upload: ${p.reason}.`,
    hint: 'Send the complete body as multipart/form-data.',
  }),
  write_failed: failed({
    message: (p: {reason: string}) => `Cannot store the upload: ${p.reason}.`,
    hint: 'Free disk space in the temporary directory of the server, or set TMPDIR to another directory.',
  }),
  invalid_message: usage({
    message: (p: {reason: string}) => `Invalid message: ${p.reason}.`,
    hint: 'Send audio as binary messages, and commands as JSON such as {"op": "commit"}.',
  }),
  unknown_op: usage({
    message: (p: {op: string}) => `Unknown op ${JSON.stringify(p.op)}.`,
    hint: 'Use set_language, commit or cancel.',
  }),
  recorder_missing: unavailable({
    message: (p: {programs: readonly string[]}) =>
      `No program that records from a microphone is on the PATH; svc looked for ${p.programs.join(', ')}.`,
    hint: 'Install a recording program, such as alsa-utils (arecord) on Linux or sox on macOS, or pass a file or - instead.',
  }),
  recorder_failed: unavailable({
    message: (p: {program: string; reason: string}) => `Recording with ${p.program} failed: ${p.reason}.`,
    hint: 'Check that a microphone is connected, or select one with --microphone; `svc listen --list-microphones` lists them.',
  }),
  decoder_unavailable: unavailable({
    http: 501,
    message: (p: {file: string; format: string}) =>
      `Cannot decode ${p.file}: ${p.format} requires ffmpeg, and ffmpeg is not on the PATH.`,
    hint: 'Install ffmpeg, or convert the recording to WAV, FLAC, MP3 or Ogg.',
    param: (_: object) => 'file',
  }),
}))
