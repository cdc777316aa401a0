/**
 * Speech-to-text: Whisper and CTC models, transcription of recordings and live audio, refinement of the text, and
 * evaluation. All inference runs on ONNX Runtime; no other native code is loaded.
 */

export type {AudioInput, AudioStream} from '../audio/index.js'
export {appendAsrRefinePair} from './corpus/asr-refine-pair.js'
export {
  failureCategories,
  failureCategoryOf,
  spokenCodeFailure,
} from './corpus/failure-category.js'
export {type MixOptions, mixCorpus} from './corpus/mix.js'
export {appendSpeechTrace, speechTrace} from './corpus/speech-trace.js'
export {ModelHolder, type ModelSource} from './engine/model-holder.js'
export {isSpeechModel, speechModelFamily, speechModelTypes} from './engine/open-model.js'
export {compareSubtitles} from './evaluation/compare-subtitles.js'
export {readDataset, type Sample} from './evaluation/dataset.js'
export {evaluate, type HeardSample} from './evaluation/evaluate.js'
export {checkKpis, kpisOf, readKpis, requireKpis} from './evaluation/kpi.js'
export {parseSubtitles} from './evaluation/subtitle-parser.js'
export type {LiveCheckpoint, UtteranceSpan} from './live/live-transcription.js'
export {
  findSpeechModel,
  type LocatedModel,
  locateSpeechModel,
  speechModelId,
} from './model/locate-model.js'
export type {
  RecognitionOptions,
  Segment,
  SpeechModel,
  WindowResult,
} from './model/model.js'
export {timingsPayload, tracksPayload, transcribePayload} from './service/payload.js'
export {
  type CallHooks,
  type HeardRecording,
  type SessionRequest,
  type SpeechCallSettings,
  SpeechService,
} from './service/speech-service.js'
export {chosenSettings, transcriberOptions} from './service/transcriber-options.js'
export {type LiveResumption, LiveSession} from './session/live-session.js'
export {RemoteSession} from './session/remote-session.js'
export {newSessionId, type SessionLimits, sessionLimits} from './session/session.js'
export type {FinishedUtterance, LiveEvent, SessionEvent} from './session/session-event.js'
export {SessionResult} from './session/session-result.js'
export {transcribeWithin} from './session/within-limits.js'
export {clarificationRecommended, fourDecimals} from './text/confidence.js'
export type {FinishedText} from './text/finish.js'
export {languageName, languageTest} from './text/languages.js'
export {loadLexicons} from './text/lexicon.js'
export {protectedWords} from './text/protected-words.js'
export {writeSpokenNumbers} from './text/spoken-numbers.js'
export {
  defaultTranscribeOptions,
  recognitionOf,
  type TranscribeEvent,
  type TranscribeOptions,
} from './transcribe/options.js'
export {progressPath} from './transcribe/progress-file.js'
export {transcribe} from './transcribe/transcribe.js'
export type {TranscribedFile, TranscribeHandlers, TranscriberOptions} from './transcriber/options.js'
export {type PartialWriter, partialWriter} from './transcriber/partial-file.js'
export {createProgress} from './transcriber/progress.js'
export {type ListedRecording, listRecordings, outputPaths, type SkippedFiles} from './transcriber/recordings.js'
export {isTextFile} from './transcriber/text-file.js'
export {Transcriber} from './transcriber/transcriber.js'
export {
  createFormat,
  formatOfFile,
  hasForeignExtension,
  type TranscriptFormat,
  type TranscriptFormatName,
  transcriptFormats,
} from './transcript/formats.js'
export type {SubtitleShape} from './transcript/subtitle-blocks.js'
export type {Transcript} from './transcript/transcript.js'
export {writeTranscript} from './transcript/write-transcript.js'
