/**
 * Speech-to-text: models that recognise windows of sound (Whisper and CTC), the walk through a whole recording, and
 * what becomes of its text. Everything that computes is ONNX Runtime; no other native code is loaded.
 */
export {type SpeechEngine, type SpeechEngineOptions, startSpeechEngine} from './engine.js'
export {
  type Alternative,
  type LanguageGuess,
  type RecognitionOptions,
  type Segment,
  type SpeechModel,
  type SpeechModelDescription,
  sampleRate,
  type WindowResult,
  type WordTiming,
} from './model.js'
export {type OpenSpeechModelOptions, openSpeechModel} from './open-model.js'
export {defaultTranscribeOptions, type TranscribeEvent, type TranscribeOptions} from './transcribe/options.js'
export {transcribe} from './transcribe/transcribe.js'
export type {Transcript} from './transcript/transcript.js'
