import {conflict, failed, interrupted, notFound, rows, terminated, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** Additional fields of the error of a session. */
export interface SessionFailure {
  state: 'failed'
  deadline_diagnostics: readonly object[]
}

export const speechErrors = rows(() => ({
  transcription_interrupted: interrupted({
    message: (p: {recording: string}) =>
      `The transcription of ${p.recording} was interrupted; finished parts are kept.`,
    hint: 'Run the same command with --resume to continue it; without, it starts again.',
  }),
  transcription_terminated: terminated({
    message: (p: {recording: string}) => `The transcription of ${p.recording} was terminated; finished parts are kept.`,
    hint: 'Run the same command with --resume to continue it; without, it starts again.',
  }),
  cache_unwritable: failed({
    message: (p: {folder: string; reason: string}) => `Cannot write to the cache directory ${p.folder}: ${p.reason}.`,
    hint: 'Set SVC_SPEECH_CACHE_DIR to a writable directory, or free disk space.',
  }),
  speech_model_missing: usage({
    http: 503,
    message: () => 'No speech model is selected, and the starter model is missing from this installation.',
    hint: 'Run `svc speech pull tiny.en` once, or select a model with --model or SVC_SPEECH_MODEL.',
  }),
  speech_model_unknown: failed({
    message: (p: {path: string; found: string}) => `${p.path} is not a supported speech model: ${p.found}.`,
    hint: 'Use a Whisper directory in Hugging Face layout, its ONNX export, a whisper.cpp ggml file, or a CTC model.',
  }),
  speech_backend_mismatch: usage({
    http: 500,
    message: (p: {model: string; backend: string}) =>
      `The backend ${p.backend} supports only Whisper models, and ${p.model} is a CTC model.`,
    hint: 'Unset SVC_SPEECH_BACKEND, or select a Whisper model with --model.',
  }),
  tokenizer_mismatch: failed({
    message: (p: {file: string; reason: string}) => `The tokenizer ${p.file} does not match the model: ${p.reason}.`,
    hint: 'Copy the tokenizer and config.json again from the same model.',
  }),
  recognition_failed: failed({
    message: (p: {reason: string}) => `Speech recognition failed: ${p.reason}.`,
    hint: 'Check that the machine has enough free memory, or run again with --debug for details.',
  }),
  phrase_unwritable: usage({
    http: 500,
    message: (p: {phrase: string}) => `The model cannot write the constrained phrase ${JSON.stringify(p.phrase)}.`,
    hint: 'Remove or respell the phrase in SVC_SPEECH_CONSTRAINED_PHRASES, or turn off SVC_SPEECH_CONSTRAINED_TRIE.',
  }),
  words_unsupported: usage({
    message: (p: {model: string}) => `The model ${p.model} outputs no cross-attention, which word timestamps require.`,
    hint: 'Use the safetensors of the same model, or an export whose name ends in _timestamped.',
    param: (_: object) => 'timestamp_granularities',
  }),
  task_unsupported: usage({
    message: (p: {model: string}) => `The model ${p.model} supports only one language and cannot translate.`,
    hint: 'Use a multilingual model, such as openai/whisper-tiny, for --task translate.',
    param: (_: object) => 'model',
  }),
  language_detection_unsupported: usage({
    message: (p: {model: string}) => `The model ${p.model} supports only one language, so it cannot detect languages.`,
    hint: 'Use a multilingual model, such as openai/whisper-tiny.',
    param: (_: object) => 'model',
  }),
  language_unsupported: usage({
    message: (p: {language: string; model: string; known: readonly string[]; suggestion?: string | undefined}) =>
      `The model ${p.model} does not support the language ${p.language}.${didYouMean(p.suggestion)}`,
    hint: (p: {known: readonly string[]}) =>
      p.known.length === 1
        ? `Use a multilingual model, such as openai/whisper-tiny; the selected model supports only ${p.known[0]}.`
        : `Use a language such as ${p.known.slice(0, 3).join(', ')}, or omit the language to detect it.`,
    param: (_: object) => 'language',
  }),
  dataset_invalid: usage({
    message: (p: {file: string; line: number; reason: string}) => `${p.file}, line ${p.line}: ${p.reason}.`,
    hint: 'Write one JSON object per line, such as {"path": "a.wav", "expected": "hello world"}.',
  }),
  corpus_mix_incomplete: failed({
    message: (p: {problems: readonly string[]}) => `The mix is incomplete: ${p.problems.join('; ')}.`,
    hint: 'Correct the sources or mark them as optional, or mix without --strict.',
  }),
  speech_kpi_violated: failed({
    message: (p: {path: string; violations: readonly string[]}) =>
      `The measurements in ${p.path} are not good enough: ${p.violations.join('; ')}.`,
    hint: 'Measure a better model with `svc speech eval DATASET --write-kpi FILE`, or unset SVC_SPEECH_CANARY_KPI.',
  }),
  excerpt_empty: usage({
    message: (p: {offset: number; duration: number}) =>
      `The offset of ${p.offset} s is not before the end of the recording, which has ${p.duration} s.`,
    hint: 'Pass a smaller --offset.',
  }),
  resume_mismatch: conflict({
    message: (p: {path: string; changed: readonly string[]}) =>
      `Cannot resume from ${p.path}: these inputs changed since the interrupted run: ${p.changed.join(', ')}.`,
    hint: 'Use the recording, the model and the options of the interrupted run, or omit --resume to start again.',
  }),
  recording_missing: usage({
    message: () => 'Missing recording.',
    hint: 'Pass one or more files, a directory, or - for standard input.',
  }),
  audio_folder_empty: notFound({
    message: (p: {folder: string}) => `The directory ${p.folder} contains no recordings.`,
    hint: 'Pass a directory with files such as .wav, .flac, .mp3 or .ogg; subdirectories are not searched.',
  }),
  subtitle_format_unknown: usage({
    message: (p: {path: string}) => `Cannot write subtitles to ${p.path}: the name must end in .srt or .vtt.`,
    hint: 'Choose another --output name, for example film.srt.',
  }),
  output_extension_unknown: usage({
    message: (p: {path: string; extensions: string}) =>
      `${p.path} has the extension of no transcript format; the formats are ${p.extensions}.`,
    hint: 'Use one of these extensions, or the name of a directory.',
  }),
  output_dir_needed: usage({
    message: (p: {formats: readonly string[]}) =>
      p.formats.length === 1
        ? `Cannot write several ${p.formats[0]} transcripts to standard output.`
        : `Cannot write several formats to standard output: ${p.formats.join(', ')}.`,
    hint: 'Pass --output DIR to write one file per recording and format.',
  }),
  speech_session_not_found: notFound({
    http: 404,
    message: (p: {id: string}) => `The speech session ${p.id} does not exist, or has expired.`,
    hint: 'Connect without a session to start a new one.',
  }),
  speech_gap_too_long: usage({
    http: 400,
    message: (p: {from: number; next_sample: number; limit: number}) =>
      `Sample ${p.from} is more than ${p.limit} s after ${p.next_sample}, the next one of the session.`,
    hint: 'Connect without a session to start a new one.',
  }),
  speech_capture_timeout: failed({
    http: 408,
    message: (p: {timeout_ms: number} & SessionFailure) => `No audio arrived for ${p.timeout_ms} ms.`,
    hint: 'Check that the microphone or client sends audio, or raise timeout_ms.',
  }),
  buffer_overflow: failed({
    http: 413,
    message: (p: {max_buffer_ms: number}) => `The live audio exceeds the buffer of ${p.max_buffer_ms} ms.`,
    hint: 'Commit utterances more often, or raise SVC_SPEECH_STREAM_MAX_BUFFER_MS.',
  }),
  speech_inference_timeout: failed({
    http: 504,
    message: (p: {transcribe_ms: number; inference_deadline_ms: number} & SessionFailure) =>
      `Recognition took ${p.transcribe_ms} ms, longer than the limit of ${p.inference_deadline_ms} ms.`,
    hint: 'Raise inference_deadline_ms, use a smaller model, or transcribe less audio at once.',
  }),
  speech_deadline_exceeded: failed({
    http: 504,
    message: (p: {wall_ms: number; max_duration_ms: number} & SessionFailure) =>
      `The session took ${p.wall_ms} ms, longer than the limit of ${p.max_duration_ms} ms.`,
    hint: 'Raise max_duration_ms, or split the recording.',
  }),
  vad_model_missing: usage({
    http: 500,
    message: () => 'The neural voice activity detector needs a model, and none is configured.',
    hint: 'Pass the ONNX file of Silero VAD with --vad-model, or use --vad energy.',
  }),
}))
