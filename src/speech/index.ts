/**
 * Speech-to-text: models that recognise windows of sound (Whisper and CTC), the walk through a whole recording, and
 * what becomes of its text. Everything that computes is ONNX Runtime; no other native code is loaded.
 */
export {type SpeechEngine, type SpeechEngineOptions, startSpeechEngine} from './engine.js'
export {compareSubtitles} from './evaluation/compare-subtitles.js'
export {readDataset, type Sample} from './evaluation/dataset.js'
export {evaluate, type HeardSample} from './evaluation/evaluate.js'
export {parseSubtitles, type Subtitle} from './evaluation/subtitle-parser.js'
export {
  findSpeechModel,
  type LocatedModel,
  type LocateOptions,
  locateSpeechModel,
  speechModelId,
} from './locate-model.js'
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
export type {OpenSpeechModelOptions} from './open-model.js'
export {partialWriter} from './partial-file.js'
export {type PayloadOptions, transcribePayload} from './payload.js'
export {createProgress, type RecordingProgress} from './progress.js'
export {listRecordings, outputPaths} from './recordings.js'
export {type LexiconSource, loadLexicons} from './text/lexicon.js'
export {defaultTranscribeOptions, type TranscribeEvent, type TranscribeOptions} from './transcribe/options.js'
export {transcribe} from './transcribe/transcribe.js'
export {
  type TranscribedFile,
  type TranscribeHandlers,
  Transcriber,
  type TranscriberOptions,
  type VadChoice,
} from './transcriber.js'
export {type SpeechSettingValues, transcriberOptions} from './transcriber-options.js'
export {
  createFormat,
  formatOfFile,
  type TranscriptFormat,
  type TranscriptFormatName,
} from './transcript/formats.js'
export type {Transcript} from './transcript/transcript.js'
export {writeTranscript} from './transcript/write-transcript.js'
