import {failed, notFound, rows, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

export const speechErrors = rows(() => ({
  cache_unwritable: failed({
    message: (p: {folder: string; reason: string}) => `Nothing can be kept in ${p.folder}: ${p.reason}.`,
    hint: 'Free some disk space, or name another folder in SVC_SPEECH_CACHE_DIR.',
  }),
  speech_model_missing: usage({
    http: 503,
    message: () => 'No speech model was named, and none is in the local cache.',
    hint: 'Run svc speech pull openai/whisper-tiny.en once, or name a model with --model or SVC_SPEECH_MODEL.',
  }),
  speech_model_unknown: failed({
    message: (p: {path: string; found: string}) =>
      `${p.path} is not a speech model that this version runs: ${p.found}.`,
    hint: 'Give a Whisper directory in Hugging Face layout, its ONNX export, a whisper.cpp ggml file, or a CTC model.',
  }),
  speech_backend_mismatch: usage({
    http: 500,
    message: (p: {model: string; backend: string}) =>
      `${p.model} is a CTC model, and the backend ${p.backend} runs only Whisper models.`,
    hint: 'Unset SVC_SPEECH_BACKEND, or name a Whisper model with --model.',
  }),
  tokenizer_mismatch: failed({
    message: (p: {file: string; reason: string}) => `The tokenizer ${p.file} does not fit the model: ${p.reason}.`,
    hint: 'Copy tokenizer.json and config.json from the same model.',
  }),
  recognition_failed: failed({
    message: (p: {reason: string}) => `The speech model could not be run: ${p.reason}.`,
    hint: 'Check that the machine has enough free memory; --debug shows more.',
  }),
  words_unsupported: usage({
    message: (p: {model: string}) => `The model ${p.model} gives no cross-attention, which word times are made from.`,
    hint: 'Use the safetensors of the same model, or an export whose name ends in _timestamped.',
  }),
  task_unsupported: usage({
    message: (p: {model: string}) => `The model ${p.model} knows one language and cannot translate.`,
    hint: 'Use a multilingual model, such as openai/whisper-tiny, for --task translate.',
  }),
  language_unsupported: usage({
    message: (p: {language: string; model: string; known: readonly string[]; suggestion?: string | undefined}) =>
      `The model ${p.model} does not know the language ${p.language}.${didYouMean(p.suggestion)}`,
    hint: (p: {known: readonly string[]}) =>
      p.known.length === 1
        ? `It knows ${p.known[0]} alone; use a multilingual model, such as openai/whisper-tiny.`
        : `Give one of the ${p.known.length} codes it knows, such as en, or leave the language out to have it detected.`,
  }),
  dataset_invalid: usage({
    message: (p: {file: string; line: number; reason: string}) => `${p.file}, line ${p.line}: ${p.reason}.`,
    hint: 'Write a JSON object per line, such as {"path": "a.wav", "expected": "what is said"}.',
  }),
  recording_missing: usage({
    message: () => 'No recording was given.',
    hint: 'Give one or more files, a folder, or - for standard input.',
  }),
  audio_folder_empty: notFound({
    message: (p: {folder: string}) => `There is no recording in ${p.folder}.`,
    hint: 'Give a folder with files such as .wav, .flac, .mp3 or .ogg; folders inside of it are not searched.',
  }),
  subtitle_format_unknown: usage({
    message: (p: {path: string}) => `Subtitles are written as .srt and .vtt; ${p.path} is neither.`,
    hint: 'Choose a name that ends in .srt or .vtt.',
  }),
  output_dir_needed: usage({
    message: (p: {format: string}) => `Several transcripts in the format ${p.format} cannot share standard output.`,
    hint: 'Name a folder with --output, which gets one file per recording.',
  }),
  vad_model_missing: usage({
    http: 500,
    message: () => 'The neural voice detector needs a model, and none is named.',
    hint: 'Give the ONNX file of Silero VAD with --vad-model or SVC_SPEECH_VAD_MODEL, or use --vad energy.',
  }),
}))
