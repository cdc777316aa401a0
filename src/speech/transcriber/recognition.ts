import type {TrackList} from '../../audio/index.js'
import {SvcError} from '../../errors/index.js'
import {type ConstraintWarning, type SpeechModelDescription, sampleRate} from '../model/model.js'
import {isUnreliable} from '../text/confidence.js'
import {withDetection} from '../text/language-hint.js'
import {mergeChannels} from '../transcribe/merge-channels.js'
import {moveEvents} from '../transcribe/move-events.js'
import type {TranscribeEvent, TranscribeOptions} from '../transcribe/options.js'
import {resultsOf} from '../transcribe/progress-file.js'
import {readAhead} from '../transcribe/read-ahead.js'
import {Recording} from '../transcribe/recording.js'
import {RecordingTurns} from '../transcribe/recording-turns.js'
import {transcribe} from '../transcribe/transcribe.js'
import type {RecognitionWarning, SpeechWarning} from '../transcribe/warning.js'
import {finish, holdsSegments, shown} from './finish.js'
import type {ModelUse} from './model-use.js'
import type {Channel} from './open-channels.js'
import type {TranscribedFile, TranscribeHandlers, TranscriberOptions} from './options.js'

/** A recording with its channels, and the warnings so far. */
export interface OpenRecording {
  /** Name in warnings. */
  name: string
  /** True if its audio does not arrive while it is recorded. */
  isFile: boolean
  channels: readonly Channel[]
  warnings: SpeechWarning[]
  tracks?: TrackList | undefined
}

/** Returns the results of earlier passes over the same audio, if any. */
export type MemoOf = (
  description: SpeechModelDescription,
  decoding: TranscribeOptions,
) => Promise<TranscribeOptions['memo']>

/** Maximum length of a recording that is recognised together with others, seconds. */
const shortSec = 60

/** Recognises open recordings, short ones together if the transcriber allows it. */
export class Recognition {
  readonly #options: TranscriberOptions
  readonly #use: ModelUse
  readonly #turns = new RecordingTurns()
  /** Constraints that were not applied, as far as a caller knows. */
  readonly #warned = new Set<string>()

  constructor(options: TranscriberOptions, use: ModelUse) {
    this.#options = options
    this.#use = use
  }

  /** Transcribes a recording. @param memoOf results of earlier passes over its audio */
  async recognise(recording: OpenRecording, handlers: TranscribeHandlers, memoOf: MemoOf): Promise<TranscribedFile> {
    const {channels} = recording
    let sources = channels.map(({audio}) => audio[Symbol.asyncIterator]())
    try {
      handlers.onStart?.(channels[0]?.audio.durationSec)
      if (!this.#options.together) return await this.#recogniseNow(recording, sources, 'alone', handlers, memoOf)
      const maxSamples = recording.isFile ? shortSec * sampleRate : 0
      const begun = await Promise.all(sources.map((source) => readAhead(source, maxSamples)))
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
      const loading = this.#use.prepare(handlers, {use})
      const opening = this.#use.detectors(channels.map(() => ({}))).then((detectors) =>
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
      const options = this.#use.decoding(engine, hint.language)
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
      const result = await finish(transcript, this.#options, handlers.onSegment)
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
      throw error instanceof SvcError && error.code === 'phrase_unwritable' ? this.#use.general(error) : error
    }
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
        if (!holdsSegments(this.#options)) await onSegment?.(shown(event.segment, this.#options))
      } else if (event.type === 'chunk') await onChunk?.(event)
      else if (event.type === 'warning') onWarning(event.warning)
      else onProgress?.(event.processedSec)
    }
    throw new Error('The transcription ended without a transcript.')
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
