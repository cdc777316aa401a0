import type {Device} from '../../onnx/index.js'

/** Sample rate of all speech models, Hz. */
export const sampleRate = 16_000

/** Silence that is encoded after the audio of a draft, seconds; with less, a Whisper decoder tends to repeat itself. */
export const draftPaddingSec = 2.56

export interface SpeechModelDescription {
  family: 'whisper' | 'ctc'
  /** Name that the user specified. */
  name: string
  /** Directory or file of the model. */
  path: string
  precision: 'f32' | 'int8'
  device: Device
  /** Maximum length of a window, seconds. */
  windowSec: number
  /** True if the model emits the start and end of segments; otherwise each window is one segment. */
  timestamps: boolean
  /** Codes of the supported languages, such as `en`. */
  languages: readonly string[]
  /** True if word timestamps are supported. */
  wordTimings: boolean
  /** True if translation to English is supported. */
  translates: boolean
  /** Number of windows of a recording to recognise together; 0 if the model does not support this. */
  batch: number
  /** Number of copies of the model that share the threads of this machine for short recordings, at least 1. */
  instances: number
  /** How the model drafts the text of live audio: each sample once, windows of any length, or only complete windows. */
  drafts: 'stream' | 'window' | 'full'
}

/** Restrictions and preferences for the tokens that a decoder selects; plain data. */
export interface DecodingConstraints {
  /** Phrases whose tokens get a bonus. */
  bias: readonly string[]
  /** Bonus on the log-probability of a token that continues such a phrase, half of it for the first; 0 adds nothing. */
  biasStrength: number
  /** Maximum number of different tokens with a bonus. */
  biasMaxTokens: number
  /** Ids of tokens that are never decoded. */
  forbidden: readonly number[]
  /** Allows the tokens that the model itself lists as suppressed: symbols that are not spoken. */
  allowListed: boolean
  /** The only phrases that are decoded; all texts are allowed if there are none. */
  phrases: readonly string[]
  /** Number of consecutive steps without a likely phrase after which all texts are allowed again, at least 1. */
  stuckSteps: number
}

export const noConstraints: DecodingConstraints = {
  bias: [],
  biasStrength: 0,
  biasMaxTokens: 1,
  forbidden: [],
  allowListed: false,
  phrases: [],
  stuckSteps: 1,
}

/** Phrases that decide between hypotheses, and the strength of the bias, which is off at 0. */
export interface Preference {
  phrases: readonly string[]
  strength: number
}

export const noPreference: Preference = {phrases: [], strength: 0}

/** A constraint that was not applied. */
export interface ConstraintWarning {
  code: 'forbidden_token_ignored' | 'constraint_dropped'
  message: string
}

/** Decoding options of a window. A model family ignores options that it does not support. */
export interface RecognitionOptions {
  /** Code of the spoken language; detected if undefined. */
  language?: string | undefined
  task: 'transcribe' | 'translate'
  /** Prompt: words and spellings to expect. */
  prompt?: string | undefined
  /** Tokens of the text before this window. */
  previousTokens?: readonly number[]
  /** Beam width at temperature 0; 1 is greedy. */
  beamSize: number
  /** Number of finished hypotheses after which a beam search ends, in multiples of the beam width. */
  patience: number
  /**
   * Exponent of the length in the rank of hypotheses, `((5 + tokens) / 6) ** exponent` (Wu et al. 2016, arXiv 1609.08144);
   * undefined ranks them by their mean log-probability.
   */
  lengthPenalty: number | undefined
  /** Number of samples at a temperature above 0; the most likely one is used. */
  bestOf: number
  /** Temperatures, tried in order until a decoding is accepted. */
  temperatures: readonly number[]
  seed: number
  /** Probability of no speech above which a window with an unlikely text counts as silence. */
  noSpeechThreshold: number
  /** Mean log-probability below which a decoding is rejected. */
  logprobThreshold: number
  /** Compression ratio of the text above which a decoding is rejected as repetitive. */
  compressionRatioThreshold: number
  /** Words and phrases to expect, as part of the prompt. */
  hotwords: readonly string[]
  constraints: DecodingConstraints
  /** Words and phrases that decide between hypotheses of similar probability. */
  preferred: Preference
  wordTimestamps: boolean
  /** Returns the text and log-probability of each token. */
  pieces?: boolean | undefined
  /** Number of alternatives to return, best first, including the selected one. */
  alternatives: number
  /**
   * Decodes fast and less accurately, for partial results of live audio: one greedy pass over a window as long as the
   * audio.
   */
  draft?: boolean
}

export interface WordTiming {
  /** The word with adjacent spaces and punctuation, as in the text of the segment. */
  word: string
  startSec: number
  endSec: number
  /** Mean probability of its tokens, 0 to 1. */
  probability: number
}

/** A token of a segment. */
export interface TokenPiece {
  token: number
  /** Empty if the token ends within a character; the token that completes the character has all of it. */
  text: string
  logprob: number
}

/** A segment of text. Times are seconds from the start of the window or, in a transcript, of the recording. */
export interface Segment {
  startSec: number
  endSec: number
  text: string
  tokens: readonly number[]
  temperature: number
  /** Mean log-probability of the tokens. */
  avgLogprob: number
  /** Compression ratio: UTF-8 bytes of the text, divided by the bytes of the compressed text. */
  compressionRatio: number
  /** Probability of no speech, 0 to 1. */
  noSpeechProb: number
  words?: readonly WordTiming[]
  /** True if the constrained phrases did not match the audio, so that all texts were allowed. */
  constraintEscaped?: true | undefined
  /** Its tokens, if they were requested. */
  pieces?: readonly TokenPiece[] | undefined
  /** Name of the speaker, if the channels of the recording were transcribed separately. */
  speaker?: string | undefined
}

export interface Alternative {
  text: string
  /** Log-probability of the complete text. */
  score: number
}

/** Result of one window. */
export interface WindowResult {
  segments: Segment[]
  /** Length of the completed part of the window, seconds; the next window starts there. */
  consumedSec: number
  /** Specified or detected language. */
  language: string
  languageProbability: number
  /** True if the model detected no speech. */
  noSpeech: boolean
  temperature: number
  /** Empty unless more than one was requested. */
  alternatives: Alternative[]
  /** Constraints that were not applied. */
  warnings: readonly ConstraintWarning[]
  timings: {
    featuresMs: number
    encodeMs: number
    decodeMs: number
    /** Tokens for which the logits of the whole vocabulary were computed, because the fast choice was not certain. */
    wholeHeads: number
  }
}

export interface LanguageGuess {
  language: string
  /** Probability, 0 to 1; the probabilities of all guesses sum to 1. */
  probability: number
}

export interface Draft {
  text: string
  /** The text of the audio whose context is complete, which later audio does not change. */
  certain: string
}

/** Recognises audio incrementally. The text is a draft and may differ from that of `recognise`. */
export interface DraftStream {
  /** Adds the next samples; returns the text of all samples so far. */
  push(samples: Float32Array): Promise<Draft>
  /** Releases the state of the stream. */
  close(): void
}

/** A loaded speech model, in this thread or in a worker. */
export interface SpeechModel {
  readonly description: SpeechModelDescription
  /**
   * Recognises one window.
   * @param samples mono, 16 kHz, -1 to 1, not longer than the model's window
   * @throws language_unsupported, phrase_unwritable, recognition_failed; the reason of the signal
   */
  recognise(samples: Float32Array, options: RecognitionOptions, signal?: AbortSignal): Promise<WindowResult>
  /**
   * Recognises several windows with less work than one by one, and with the same results.
   * @throws what `recognise` throws
   */
  recogniseAll?(
    windows: readonly Float32Array[],
    options: RecognitionOptions,
    signal?: AbortSignal,
  ): Promise<WindowResult[]>
  /** Returns candidate languages, most likely first; one candidate if the model supports only one language. */
  detectLanguage(samples: Float32Array, signal?: AbortSignal): Promise<LanguageGuess[]>
  /** Starts a draft; only if the model drafts as a stream. */
  draft?(options: RecognitionOptions): DraftStream
  release(): Promise<void>
}
