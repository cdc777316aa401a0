import type {Device} from '../onnx/index.js'

/** Rate that every speech model is fed at, Hz. */
export const sampleRate = 16_000

/** Silence that is encoded after the audio of a draft, seconds; with less, a Whisper decoder tends to repeat itself. */
export const draftPaddingSec = 2.56

export interface SpeechModelDescription {
  family: 'whisper' | 'ctc'
  /** What the user called it. */
  name: string
  /** Directory or file it was read from. */
  path: string
  precision: 'f32' | 'int8'
  device: Device
  /** Longest window that can be recognised at once, seconds. */
  windowSec: number
  /** Whether the model itself says when segments begin and end; without, each window is one segment. */
  timestamps: boolean
  /** Codes of the languages it knows, such as `en`; a model of one language lists that one. */
  languages: readonly string[]
  /** Whether it can tell when each word was said. */
  wordTimings: boolean
  /** Whether it can translate to English. */
  translates: boolean
  /** How it drafts the text of live audio: each sample once, a window of any length, or only complete windows. */
  drafts: 'stream' | 'window' | 'full'
}

/** How a window is decoded. Fields that a family does not have are ignored by it. */
export interface RecognitionOptions {
  /** Code of the language spoken; detected where it is left out. */
  language?: string | undefined
  task: 'transcribe' | 'translate'
  /** Text that goes before: words and spellings to expect. */
  prompt?: string | undefined
  /** Tokens of what was said before this window. */
  previousTokens?: readonly number[]
  /** Hypotheses that are followed at temperature 0; 1 is greedy. */
  beamSize: number
  /** Draws at a temperature above 0; the most likely one is kept. */
  bestOf: number
  /** Tried in turn until a decoding is good enough. */
  temperatures: readonly number[]
  seed: number
  /** A window with a higher probability of no speech, and a low one of its text, is silence. */
  noSpeechThreshold: number
  /** Mean log-probability below which a decoding failed. */
  logprobThreshold: number
  /** Ratio of text to compressed text above which a decoding failed, because it repeats itself. */
  compressionRatioThreshold: number
  /** Words and phrases that are made more likely. */
  hotwords: readonly string[]
  /** What is added to the log-probability of each token of a hotword, to find readings with it; 0 adds nothing. */
  hotwordStrength: number
  /** Of the likely readings the one with the most of these words and phrases is chosen. */
  preferred: readonly string[]
  wordTimestamps: boolean
  /** Returns the text and log-probability of each token. */
  pieces?: boolean | undefined
  /** Alternatives to return, best first, the chosen one included. */
  alternatives: number
  /** Fast and less accurate, for partial results of live audio: one greedy pass over a window as long as the audio. */
  draft?: boolean
}

export interface WordTiming {
  /** With the blank or punctuation that belongs to it, as in the text of the segment. */
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

/** A piece of text with its place, in seconds from the start of the window or, in a transcript, of the recording. */
export interface Segment {
  startSec: number
  endSec: number
  text: string
  tokens: readonly number[]
  temperature: number
  /** Mean log-probability of the tokens. */
  avgLogprob: number
  /** UTF-8 bytes of the text per byte of it compressed. */
  compressionRatio: number
  /** Probability that nobody speaks, 0 to 1. */
  noSpeechProb: number
  words?: readonly WordTiming[]
  /** Its tokens, if they were requested. */
  pieces?: readonly TokenPiece[] | undefined
}

export interface Alternative {
  text: string
  /** Mean log-probability. */
  score: number
}

/** What was recognised in one window. */
export interface WindowResult {
  segments: Segment[]
  /** How much of the window is done with, seconds; the next window begins there. */
  consumedSec: number
  /** Language that was given or detected. */
  language: string
  languageProbability: number
  /** Nobody spoke, as far as the model can tell. */
  noSpeech: boolean
  temperature: number
  /** Only where more than one was asked for. */
  alternatives: Alternative[]
  timings: {featuresMs: number; encodeMs: number; decodeMs: number}
}

export interface LanguageGuess {
  language: string
  /** 0 to 1; all guesses together make 1. */
  probability: number
}

export interface Draft {
  text: string
  /** The text without the audio whose continuation the model has not heard yet. */
  certain: string
}

/** Recognises audio that arrives in pieces. Its text is a draft, which may differ from that of `recognise`. */
export interface DraftStream {
  /** Adds the next samples; returns the text of all samples so far. */
  push(samples: Float32Array): Promise<Draft>
  /** Frees what the stream keeps. */
  close(): void
}

/** A speech model that is ready to run, in this thread or in one of its own. */
export interface SpeechModel {
  readonly description: SpeechModelDescription
  /**
   * Recognises one window.
   * @param samples mono, 16 kHz, -1 to 1, not longer than the model's window
   * @throws language_unsupported, recognition_failed; the reason of the signal
   */
  recognise(samples: Float32Array, options: RecognitionOptions, signal?: AbortSignal): Promise<WindowResult>
  /** Guesses of the language spoken, most likely first. One guess where the model has one language. */
  detectLanguage(samples: Float32Array, signal?: AbortSignal): Promise<LanguageGuess[]>
  /** Starts a draft; only if the model drafts as a stream. */
  draft?(options: RecognitionOptions): DraftStream
  release(): Promise<void>
}
