import {failed, notFound, rows, usage} from '../row.js'
import {didYouMean} from '../suggestion.js'

export const speechErrors = rows(() => ({
  cache_unwritable: failed({
    message: (p: {folder: string; reason: string}) => `Cannot write to the cache ${p.folder}: ${p.reason}.`,
    hint: 'Free disk space, or set SVC_SPEECH_CACHE_DIR to another directory.',
  }),
  speech_model_missing: usage({
    http: 503,
    message: () => 'No speech model is installed, and none was named.',
    hint: 'Run svc speech pull openai/whisper-tiny.en, or name a model with --model or SVC_SPEECH_MODEL.',
  }),
  speech_model_unknown: failed({
    message: (p: {path: string; found: string}) => `${p.path} is not a supported speech model: ${p.found}.`,
    hint: 'Pass a Whisper directory in Hugging Face layout, its ONNX export, a whisper.cpp ggml file, or a CTC model.',
  }),
  speech_backend_mismatch: usage({
    http: 500,
    message: (p: {model: string; backend: string}) =>
      `${p.model} is a CTC model; the backend ${p.backend} runs Whisper models only.`,
    hint: 'Unset SVC_SPEECH_BACKEND, or name a Whisper model with --model.',
  }),
  tokenizer_mismatch: failed({
    message: (p: {file: string; reason: string}) => `The tokenizer ${p.file} does not match the model: ${p.reason}.`,
    hint: 'Copy tokenizer.json and config.json from the same model.',
  }),
  recognition_failed: failed({
    message: (p: {reason: string}) => `The speech model failed: ${p.reason}.`,
    hint: 'Check that the machine has enough free memory. --debug prints details.',
  }),
  words_unsupported: usage({
    message: (p: {model: string}) => `The model ${p.model} has no cross-attention output, which word timestamps need.`,
    hint: 'Use the safetensors version of the model, or an ONNX export whose name ends in _timestamped.',
  }),
  task_unsupported: usage({
    message: (p: {model: string}) => `The model ${p.model} supports one language only and cannot translate.`,
    hint: 'Use a multilingual model, such as openai/whisper-tiny, for --task translate.',
  }),
  language_unsupported: usage({
    message: (p: {language: string; model: string; known: readonly string[]; suggestion?: string | undefined}) =>
      `The model ${p.model} does not support the language ${p.language}.${didYouMean(p.suggestion)}`,
    hint: (p: {known: readonly string[]}) =>
      p.known.length === 1
        ? `The model supports ${p.known[0]} only. Use a multilingual model, such as openai/whisper-tiny.`
        : `Pass one of its ${p.known.length} language codes, such as en, or omit --language to detect it.`,
  }),
  dataset_invalid: usage({
    message: (p: {file: string; line: number; reason: string}) => `${p.file}, line ${p.line}: ${p.reason}.`,
    hint: 'Write one JSON object per line, such as {"path": "a.wav", "expected": "the spoken text"}.',
  }),
  recording_missing: usage({
    message: () => 'Missing recording.',
    hint: 'Pass one or more files, a directory, or - for standard input.',
  }),
  audio_folder_empty: notFound({
    message: (p: {folder: string}) => `No audio files in ${p.folder}.`,
    hint: 'Pass a directory that contains audio files such as .wav, .flac, .mp3 or .ogg. Subdirectories are not searched.',
  }),
  subtitle_format_unknown: usage({
    message: (p: {path: string}) => `Unknown subtitle format: ${p.path} ends in neither .srt nor .vtt.`,
    hint: 'Choose an output name that ends in .srt or .vtt.',
  }),
  output_dir_needed: usage({
    message: (p: {format: string}) =>
      `Several transcripts in the format ${p.format} cannot be written to standard output.`,
    hint: 'Pass --output DIR to write one file per recording.',
  }),
  vad_model_missing: usage({
    http: 500,
    message: () => 'The neural voice activity detector needs a model.',
    hint: 'Pass the ONNX file of Silero VAD with --vad-model or SVC_SPEECH_VAD_MODEL, or use --vad energy.',
  }),
}))
