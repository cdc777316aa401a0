import {readFile, stat} from 'node:fs/promises'
import {extname} from 'node:path'
import {
  type AudioInput,
  type AudioStream,
  type AudioWarning,
  type Excerpt,
  energyVad,
  excerptOf,
  type Level,
  type NeuralVadOptions,
  type OpenAudioOptions,
  openAudio,
  type PreprocessMode,
  preprocess,
  type TrackChoice,
  type TrackList,
  type VoiceActivityDetector,
  type VoiceActivityState,
  withGain,
} from '../audio/index.js'
import {SvcError} from '../errors/index.js'
import type {SpeechEngine} from './engine.js'
import {type LiveOptions, LiveTranscription} from './live/live-transcription.js'
import {
  type ConstraintWarning,
  type LanguageGuess,
  type Segment,
  type SpeechModelDescription,
  sampleRate,
} from './model.js'
import type {ModelHolder} from './model-holder.js'
import {biasPhrases} from './text/bias-phrases.js'
import {asrConfidence, isUnreliable} from './text/confidence.js'
import {type FinishContext, type FinishedText, finishSegment, finishText} from './text/finish.js'
import {type LanguageDiagnostics, readLanguageHint, requireLanguage, withDetection} from './text/language-hint.js'
import {languageCodes} from './text/languages.js'
import {needsAllSegments} from './text/refine.js'
import {fingerprintOf, type RecordingFile} from './transcribe/fingerprint.js'
import {mergeChannels} from './transcribe/merge-channels.js'
import {moveEvents} from './transcribe/move-events.js'
import {
  recognitionOf,
  type TranscribeEvent,
  type TranscribeOptions,
  type TranscribeTimings,
} from './transcribe/options.js'
import {readFirstWindow} from './transcribe/passage.js'
import {openProgressFile, type ProgressFile, resultsOf} from './transcribe/progress-file.js'
import {amplifiedIfQuiet, type LevelWarning} from './transcribe/quiet-recording.js'
import {readAhead} from './transcribe/read-ahead.js'
import {Recording} from './transcribe/recording.js'
import {RecordingTurns} from './transcribe/recording-turns.js'
import {transcribe} from './transcribe/transcribe.js'
import {finishTranscript} from './transcript/finish-transcript.js'
import type {Transcript} from './transcript/transcript.js'

/** Voice activity detector. */
export type VadChoice =
  | {kind: 'none'}
  | ({kind: 'energy'} & RegionLimits)
  | ({kind: 'neural'; model: string} & RegionLimits)

type RegionLimits = Required<Pick<NeuralVadOptions, 'threshold' | 'mergeGapMs' | 'minSpeechMs' | 'maxRegionSec'>>

export interface TranscriberOptions {
  model: ModelHolder
  /** `language` is a code or a name. */
  decoding: Omit<TranscribeOptions, 'preprocess' | 'preferred'>
  /** Computes word timestamps if the model supports them, even if `decoding` does not request them. */
  prefersWords?: boolean | undefined
  /** Mixes the channels, transcribes each one with its own speaker, or only the one with this number, from 1. */
  channels?: 'mix' | 'split' | number
  /** Names of the speakers of split channels. */
  speakers?: readonly string[]
  preprocess: {mode: PreprocessMode; budgetMs: number; rmsTargetDbfs: number}
  vad: VadChoice
  /** Recognises short recordings of several calls at the same time. */
  together?: boolean | undefined
  /** Refines segments and text. */
  refine: boolean
  text: Omit<FinishContext, 'language'>
}

/** A text that is probably wrong. */
interface RecognitionWarning {
  code: 'recognition_unreliable'
  message: string
}

/** A problem of a recording or of its text, or a constraint that was not applied. */
export type SpeechWarning = AudioWarning | ConstraintWarning | RecognitionWarning | LevelWarning

/** Callbacks and options of one transcription. */
export interface TranscribeHandlers {
  signal?: AbortSignal | undefined
  /** Language of this recording; overrides that of the transcriber. */
  language?: string | undefined
  /** Keeps the finished windows of a recording file, so that a later run can resume. The caller removes the file. */
  progress?: ProgressFile | undefined
  /** The audio track to transcribe. */
  track?: TrackChoice | undefined
  /** Called when the audio tracks of the recording are known. */
  onTracks?: ((list: TrackList) => void) | undefined
  /** The part to transcribe; times are still relative to the start of the recording. */
  excerpt?: Excerpt | undefined
  onWarning?: ((warning: SpeechWarning) => void) | undefined
  /** Called when the model is loaded and recognition starts. */
  onReady?: (() => void) | undefined
  /** Wraps the audio stream, for instance to limit the time to read it. */
  watch?: ((audio: AudioStream) => AudioStream) | undefined
  /** Called with the duration of the recording in seconds, if it is known. */
  onStart?: ((durationSec: number | undefined) => void) | undefined
  onSegment?: ((segment: Segment) => void | Promise<void>) | undefined
  onProgress?: ((processedSec: number) => void) | undefined
  onChunk?: ((chunk: Extract<TranscribeEvent, {type: 'chunk'}>) => void | Promise<void>) | undefined
}

/** Options and callbacks of live transcription. */
export interface LiveHandlers
  extends Pick<TranscribeHandlers, 'language' | 'signal' | 'onWarning'>,
    Pick<
      LiveOptions<TranscribedFile>,
      | 'endpoint'
      | 'stability'
      | 'maxBufferMs'
      | 'now'
      | 'from'
      | 'onCheckpoint'
      | 'onSpeech'
      | 'onPartial'
      | 'onDraftFailure'
      | 'onEndpoint'
      | 'onFailure'
    > {}

/** Audio to transcribe; channels that are transcribed separately have a speaker. */
interface Channel {
  audio: AudioStream
  speaker?: string | undefined
}

/** A recording with its channels, and the warnings so far. */
interface OpenRecording {
  /** Name in warnings. */
  name: string
  /** True if its audio does not arrive while it is recorded. */
  isFile: boolean
  channels: readonly Channel[]
  warnings: SpeechWarning[]
  tracks?: TrackList | undefined
}

/** Returns the results of earlier passes over the same audio, if any. */
type MemoOf = (description: SpeechModelDescription, decoding: TranscribeOptions) => Promise<TranscribeOptions['memo']>

/** How a detector is created: for live audio, and from the state of another one. */
interface DetectorOptions {
  live?: boolean
  state?: VoiceActivityState | undefined
}

/** Result of a transcription. */
export interface TranscribedFile {
  /** The transcript, refined unless refinement is off. */
  transcript: Transcript
  finished: FinishedText
  /** Mean token probability, 0 to 1; undefined without recognised text. */
  asrConfidence: number | undefined
  languageDiagnostics: LanguageDiagnostics | undefined
  /** Details of the recording; undefined for a text file. */
  recording:
    | {
        model: string
        family: SpeechModelDescription['family']
        /** Milliseconds; `loadMs` is 0 unless this call loaded the model. */
        timings: TranscribeTimings & {totalMs: number; loadMs: number}
        /** Duration of the audio that the model processed, seconds. */
        speechSec: number
        warnings: readonly SpeechWarning[]
        /** Audio tracks; undefined if the format has only one. */
        tracks: TrackList | undefined
      }
    | undefined
}

/** Transcribes recordings and live audio with a model, which is opened when it is needed. */
export class Transcriber {
  readonly #options: TranscriberOptions
  /** Errors that other recordings would have, too. */
  readonly #general = new WeakSet<Error>()
  readonly #turns = new RecordingTurns()
  /** Constraints that were not applied, as far as a caller knows. */
  readonly #warned = new Set<string>()

  constructor(options: TranscriberOptions) {
    this.#options = options
  }

  /**
   * Transcribes a recording. The text of a `.txt` or `.md` file is only refined.
   * @throws resume_mismatch, excerpt_empty, channels_need_file; what `openAudio`, the search for the model and the engine throw; the reason of the signal
   */
  async transcribe(input: AudioInput, handlers: TranscribeHandlers = {}): Promise<TranscribedFile> {
    if ('path' in input && isTextFile(input.path)) return this.#passThrough(input.path, handlers)
    const {signal, progress, excerpt, track} = handlers
    const warnings: SpeechWarning[] = []
    const onWarning = (warning: SpeechWarning) => {
      // A defect of the file affects all of its channels.
      if (warnings.some(({message}) => message === warning.message)) return
      warnings.push(warning)
      handlers.onWarning?.(warning)
    }
    const memoOf: MemoOf = async (description, decoding) =>
      progress !== undefined && 'path' in input
        ? openProgressFile(progress, {
            ...(await this.#fingerprint(input, description, decoding)),
            excerpt,
            channels: this.#options.channels,
            track: typeof track === 'object' ? track.name : track,
          })
        : undefined
    const path = 'path' in input ? input.path : undefined
    const name = input.name ?? path ?? ''
    const isFile = path !== undefined && (await isRegularFile(path))
    const recording: OpenRecording = {name, isFile, channels: [], warnings}
    const onTracks = (list: TrackList) => {
      // Each channel and each attempt has the same tracks.
      if (recording.tracks === undefined) handlers.onTracks?.(list)
      recording.tracks = list
    }
    const attempt = async (gain: number, level: Level, {onReady}: Pick<TranscribeHandlers, 'onReady'>) => {
      const opened = await this.#open(input, {sampleRate, signal, onWarning, track, onTracks})
      recording.channels = opened.map(({audio: whole, speaker}) => {
        const audio = withGain(excerpt === undefined ? whole : excerptOf(whole, excerpt), gain, level)
        return {audio: handlers.watch?.(audio) ?? audio, speaker}
      })
      // Results of the other attempt are of other samples.
      const results: MemoOf = async (...about) => {
        const memo = await memoOf(...about)
        return gain === 1 ? memo : memo && resultsOf(memo, {gain})
      }
      return this.#recognise(recording, {...handlers, onReady}, results)
    }
    const {vad} = this.#options
    const threshold = vad.kind === 'energy' ? vad.threshold : undefined
    return amplifiedIfQuiet(
      {name, threshold, isRepeatable: isFile, onWarning},
      // The limits of a session count from the first attempt.
      (gain, level) => attempt(gain, level, gain === 1 ? handlers : {}),
    )
  }

  /** Opens a recording; with split channels, once per channel. */
  async #open(input: AudioInput, options: OpenAudioOptions): Promise<Channel[]> {
    const {channels = 'mix', speakers = []} = this.#options
    if (channels !== 'split')
      return [{audio: await openAudio(input, {...options, channel: channels === 'mix' ? undefined : channels})}]
    if (!('path' in input)) throw new SvcError('channels_need_file', {file: input.name})
    if (!(await isRegularFile(input.path))) throw new SvcError('channels_need_file', {file: input.name ?? input.path})
    const opened: Channel[] = []
    try {
      for (let channel = 1; channel <= (opened[0]?.audio.source.channels ?? 1); channel++) {
        const audio = await openAudio(input, {...options, channel})
        opened.push({audio, speaker: speakers[channel - 1] ?? `Channel ${channel}`})
      }
      return opened
    } catch (error) {
      for (const {audio} of opened) await audio[Symbol.asyncIterator]().return?.()
      throw error
    }
  }

  /**
   * Detects the language of a recording from its first window with speech.
   * @returns candidates, most likely first; none without speech
   * @throws language_detection_unsupported; what `transcribe` throws
   */
  async detectLanguage(
    input: AudioInput,
    {
      signal,
      excerpt,
      track,
      onTracks,
      onWarning,
    }: Pick<TranscribeHandlers, 'signal' | 'excerpt' | 'track' | 'onTracks' | 'onWarning'> = {},
  ): Promise<{model: string; languages: readonly LanguageGuess[]}> {
    const {engine} = await this.#prepare({signal}, {detects: true})
    const detectors = await this.#detectors([{}])
    const {channels} = this.#options
    const channel = typeof channels === 'number' ? channels : undefined
    const whole = await openAudio(input, {sampleRate, signal, onWarning, track, onTracks, channel})
    const {preprocess: prepare, speechPadSec} = this.#decoding(engine, undefined)
    const recording = new Recording(
      excerpt === undefined ? whole : excerptOf(whole, excerpt),
      detectors[0],
      speechPadSec,
    )
    try {
      const samples = await readFirstWindow(engine.description, recording)
      const languages = samples === undefined ? [] : await engine.detectLanguage(prepare?.(samples) ?? samples, signal)
      return {model: engine.description.name, languages}
    } finally {
      await recording.close()
    }
  }

  /**
   * Starts a live transcription. Its final results equal those of `transcribe` for the same audio.
   * @throws what the search for the model and the engine throw
   */
  async live({
    endpoint,
    onPartial,
    onDraftFailure,
    onEndpoint,
    onFailure,
    stability,
    maxBufferMs,
    now,
    from,
    onCheckpoint,
    onSpeech,
    ...handlers
  }: LiveHandlers): Promise<LiveTranscription<TranscribedFile>> {
    const {engine, hint} = await this.#prepare(handlers)
    const detectors = await this.#detectors([{live: true, state: from?.detector}])
    const {text, decoding} = this.#options
    const recognition = recognitionOf(this.#decoding(engine, hint.language))
    let isUnsure = false
    // Every utterance may be unreliable; one warning is enough.
    const warnLive = (warning: SpeechWarning) => {
      if (warning.code !== 'recognition_unreliable' || !isUnsure) handlers.onWarning?.(warning)
      isUnsure ||= warning.code === 'recognition_unreliable'
    }
    return new LiveTranscription({
      model: engine,
      detector: detectors[0],
      recognition,
      hint: handlers.language,
      languageCode: (other) =>
        requireLanguage(other ?? decoding.language, engine.description, {isStrict: true}).language,
      stability,
      endpoint,
      maxBufferMs,
      // The text of an incomplete utterance is not code yet.
      finish: (raw, language) => finishText([raw], {...text, language, rank: undefined}),
      transcribe: (samples, language, memo, signal) =>
        this.#recognise(
          {name: 'The speech', isFile: false, channels: [{audio: audioOf(samples)}], warnings: []},
          {...handlers, language, signal, onWarning: warnLive},
          async () => memo,
        ),
      onPartial,
      onDraftFailure,
      onEndpoint,
      onFailure,
      now,
      from,
      onCheckpoint,
      onSpeech,
    })
  }

  async #recognise(recording: OpenRecording, handlers: TranscribeHandlers, memoOf: MemoOf): Promise<TranscribedFile> {
    const {channels} = recording
    let sources = channels.map(({audio}) => audio[Symbol.asyncIterator]())
    try {
      handlers.onStart?.(channels[0]?.audio.durationSec)
      if (!this.#options.together) return await this.#recogniseNow(recording, sources, 'alone', handlers, memoOf)
      const most = recording.isFile ? shortSec * sampleRate : 0
      const begun = await Promise.all(sources.map((source) => readAhead(source, most)))
      sources = begun.map(({source}) => source)
      const isShort = begun.every(({isComplete}) => isComplete)
      return await this.#turns.run(!isShort, () =>
        this.#recogniseNow(recording, sources, isShort ? 'together' : 'alone', handlers, memoOf),
      )
    } finally {
      for (const source of sources) await source.return?.()
    }
  }

  async #recogniseNow(
    recording: OpenRecording,
    sources: readonly AsyncIterator<Float32Array>[],
    use: 'alone' | 'together',
    handlers: TranscribeHandlers,
    memoOf: MemoOf,
  ): Promise<TranscribedFile> {
    const {name, channels, warnings} = recording
    const started = performance.now()
    try {
      const loading = this.#prepare(handlers, {use})
      const opening = this.#detectors(channels.map(() => ({}))).then((detectors) =>
        channels.map(({audio}, i) => {
          const stream = {...audio, [Symbol.asyncIterator]: () => sources[i] as AsyncIterator<Float32Array>}
          return new Recording(stream, detectors[i], this.#options.decoding.speechPadSec)
        }),
      )
      // A read of a stream that has no audio yet could not be ended if the model fails to load.
      const ahead = opening.then((all) => recording.isFile && all.map((one) => one.readDuring(loading)))
      // A failure is thrown once the model is loaded.
      ahead.catch(() => undefined)
      const {engine, loadMs, hint} = await loading
      const recordings = await opening
      handlers.onReady?.()
      const options = this.#decoding(engine, hint.language)
      const memo = await memoOf(engine.description, options)
      const parts = channels.map(({speaker}, i) => {
        const decoding = {...options, memo: speaker === undefined ? memo : memo && resultsOf(memo, {channel: i + 1})}
        return {speaker, events: transcribe(engine, recordings[i] as Recording, decoding, handlers.signal)}
      })
      const [first] = parts
      const events = moveEvents(
        first !== undefined && first.speaker === undefined ? first.events : mergeChannels(parts),
        handlers.excerpt?.offsetSec ?? 0,
      )
      const onWarning = (warning: ConstraintWarning) => {
        if (!warnings.some(({message}) => message === warning.message)) warnings.push(warning)
        if (!this.#warned.has(warning.message)) handlers.onWarning?.(warning)
        this.#warned.add(warning.message)
      }
      const {transcript, timings, speechSec} = await this.#follow(events, {...handlers, onWarning})
      const result = await this.#finish(transcript, handlers.onSegment)
      const {asrConfidence: certainty, finished} = result
      const {description} = engine
      if (certainty !== undefined && isUnreliable(description.family, certainty)) {
        const warning = unreliable(name, description, certainty)
        warnings.push(warning)
        handlers.onWarning?.(warning)
        result.finished = {...finished, confidence: Math.min(finished.confidence, certainty)}
      }
      return {
        ...result,
        languageDiagnostics:
          hint.language === undefined && transcript.language !== ''
            ? withDetection(hint.diagnostics, {
                language: transcript.language,
                probability: transcript.languageProbability,
              })
            : hint.diagnostics,
        recording: {
          model: description.name,
          family: description.family,
          timings: {...timings, totalMs: performance.now() - started, loadMs},
          speechSec,
          warnings,
          tracks: recording.tracks,
        },
      }
    } catch (error) {
      if (error instanceof SvcError && error.code === 'phrase_unwritable') this.#general.add(error)
      throw error
    }
  }

  /** True for an error of this transcriber that other recordings have too: the model does not load, or lacks an ability. */
  isGeneral(error: Error): boolean {
    return this.#general.has(error)
  }

  /** Closes the model, also for other transcribers that use it. */
  async close(): Promise<void> {
    await this.#options.model.close()
  }

  /** @param detects true if the model must detect languages */
  async #prepare(
    {signal, language}: Pick<TranscribeHandlers, 'signal' | 'language'>,
    {detects = false, use = 'alone'}: {detects?: boolean; use?: 'alone' | 'together'} = {},
  ) {
    try {
      const {decoding, model} = this.#options
      const {engine, loadMs} = await model.open(signal, use)
      const {name, languages} = engine.description
      if (detects && languages.length < 2) throw new SvcError('language_detection_unsupported', {model: name})
      requireAbilities(engine.description, decoding)
      // A hint of a request that cannot be a language is reported; a setting is refused.
      const isStrict = language === undefined
      const hint = requireLanguage(language ?? decoding.language, engine.description, {isStrict})
      return {engine, loadMs, hint}
    } catch (error) {
      if (error instanceof Error) this.#general.add(error)
      throw error
    }
  }

  async #detectors(options: readonly DetectorOptions[]): Promise<(VoiceActivityDetector | undefined)[]> {
    try {
      return await Promise.all(options.map((one) => this.#detector(one)))
    } catch (error) {
      if (error instanceof Error) this.#general.add(error)
      throw error
    }
  }

  async #detector({live = false, state}: DetectorOptions): Promise<VoiceActivityDetector | undefined> {
    const {vad, model} = this.#options
    if (vad.kind === 'none') return undefined
    if (vad.kind === 'energy') return energyVad({...vad, live, state})
    return (await model.vadModel(vad.model)).detector({...vad, state})
  }

  #decoding({description}: SpeechEngine, language: string | undefined): TranscribeOptions {
    const {decoding, preprocess: loudness, prefersWords = false, text} = this.#options
    const wordTimestamps = decoding.wordTimestamps || (prefersWords && description.wordTimings)
    const phrases = text.contextualBias ? biasPhrases(text.lexicon, text.hotwords, text.maxBiasPhrases) : []
    const preferred = {phrases, strength: decoding.constraints.biasStrength}
    const options = {...decoding, language, wordTimestamps, preferred}
    if (loudness.mode === 'none') return options
    return {...options, preprocess: (samples) => preprocess(samples, loudness).samples}
  }

  /** What the text of a recording depends on before refinement. */
  #fingerprint(recording: RecordingFile, description: SpeechModelDescription, decoding: TranscribeOptions) {
    const {preprocess: loudness, vad} = this.#options
    return fingerprintOf(recording, description, {...decoding, preprocess: loudness, vad})
  }

  async #follow(
    events: AsyncIterable<TranscribeEvent>,
    {
      onSegment,
      onProgress,
      onChunk,
      onWarning,
    }: Omit<TranscribeHandlers, 'onWarning'> & {onWarning: (warning: ConstraintWarning) => void},
  ) {
    for await (const event of events) {
      if (event.type === 'done') return event
      if (event.type === 'segment') {
        if (!this.#holdsSegments) await onSegment?.(this.#shown(event.segment))
      } else if (event.type === 'chunk') await onChunk?.(event)
      else if (event.type === 'warning') onWarning(event.warning)
      else onProgress?.(event.processedSec)
    }
    throw new Error('The transcription ended without a transcript.')
  }

  /** True if the segments are final only at the end. */
  get #holdsSegments(): boolean {
    const {refine, text} = this.#options
    return refine && needsAllSegments(text)
  }

  #shown(segment: Segment): Segment {
    return this.#options.refine ? {...segment, text: finishSegment(segment.text, this.#options.text)} : segment
  }

  async #finish(
    heard: Transcript,
    onSegment: TranscribeHandlers['onSegment'],
  ): Promise<Omit<TranscribedFile, 'languageDiagnostics' | 'recording'>> {
    const {refine, text} = this.#options
    const {refined, finished} = finishTranscript(heard, text)
    if (this.#holdsSegments) for (const segment of refined.segments) await onSegment?.(segment)
    return {transcript: refine ? refined : heard, finished, asrConfidence: asrConfidence(heard.segments)}
  }

  async #passThrough(
    path: string,
    {onReady, onSegment, language: requested}: TranscribeHandlers,
  ): Promise<TranscribedFile> {
    const {task} = this.#options.decoding
    const hint = readLanguageHint(requested ?? this.#options.decoding.language, languageCodes)
    const {language = ''} = hint
    onReady?.()
    const text = await readTranscript(path)
    const segment = {...spoken, text}
    if (!this.#holdsSegments) await onSegment?.(this.#shown(segment))
    const heard = {task, language, languageProbability: 0, durationSec: 0, text, segments: [segment], alternatives: []}
    return {
      ...(await this.#finish(heard, onSegment)),
      asrConfidence: undefined,
      languageDiagnostics: hint.diagnostics.raw === null ? undefined : hint.diagnostics,
      recording: undefined,
    }
  }
}

function unreliable(
  name: string,
  {name: model, family}: SpeechModelDescription,
  certainty: number,
): RecognitionWarning {
  const help =
    family === 'ctc'
      ? 'A Whisper model recognises real speech: run `svc speech pull tiny.en`, then use the model tiny.en.'
      : 'Check the language, or use a larger model, such as --model small.'
  const text = `${name} was probably not understood by the model ${model}: the mean probability of its tokens is ${certainty}.`
  return {code: 'recognition_unreliable', message: `${text} ${help}`}
}

/** Maximum length of a recording that is recognised together with others, seconds. */
const shortSec = 60

/** True also for paths that cannot be opened as a file, which has its own error. */
const isRegularFile = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined)
  return found === undefined || found.isFile() || found.isDirectory()
}

/** Yields samples in pieces of one second, and lets other work run between them. */
const audioOf = (samples: Float32Array): AudioStream => ({
  sampleRate,
  source: {container: 'live', codec: 'pcm_f32le', sampleRate, channels: 1},
  durationSec: samples.length / sampleRate,
  async *[Symbol.asyncIterator]() {
    for (let at = 0; at < samples.length; at += sampleRate) {
      yield samples.subarray(at, at + sampleRate)
      await new Promise((resolve) => setImmediate(resolve))
    }
  },
})

/**
 * Checks the options against the abilities of the model before any audio is read.
 * @throws task_unsupported, words_unsupported
 */
function requireAbilities(
  {name, translates, wordTimings}: SpeechEngine['description'],
  {task, wordTimestamps}: TranscriberOptions['decoding'],
): void {
  if (task === 'translate' && !translates) throw new SvcError('task_unsupported', {model: name})
  if (wordTimestamps && !wordTimings) throw new SvcError('words_unsupported', {model: name})
}

/** Values of a text file for the fields of a recognised segment. */
const spoken = {
  startSec: 0,
  endSec: 0,
  tokens: [],
  temperature: 0,
  avgLogprob: 0,
  compressionRatio: 1,
  noSpeechProb: 0,
}

/** True for a transcript, which is only cleaned up. */
export const isTextFile = (path: string) => ['.txt', '.md'].includes(extname(path).toLowerCase())

/** Maximum size of a text file, bytes. */
const mostTextBytes = 16 << 20

async function readTranscript(path: string): Promise<string> {
  try {
    const {size} = await stat(path)
    if (size > mostTextBytes) throw new SvcError('file_unreadable', {path, reason: 'it is too long for a transcript'})
    return await readFile(path, 'utf8')
  } catch (error) {
    throw SvcError.from(error)
  }
}
