import {
  type AudioInput,
  type AudioStream,
  excerptOf,
  type Level,
  openAudio,
  type TrackList,
  withGain,
} from '../../audio/index.js'
import {LiveTranscription} from '../live/live-transcription.js'
import {type LanguageGuess, type SpeechModelDescription, sampleRate} from '../model/model.js'
import {finishText} from '../text/finish.js'
import {requireLanguage} from '../text/language-hint.js'
import {fingerprintOf, type RecordingFile} from '../transcribe/fingerprint.js'
import {recognitionOf, type TranscribeOptions} from '../transcribe/options.js'
import {readFirstWindow} from '../transcribe/passage.js'
import {openProgressFile, resultsOf} from '../transcribe/progress-file.js'
import {amplifiedIfQuiet} from '../transcribe/quiet-recording.js'
import {Recording} from '../transcribe/recording.js'
import type {SpeechWarning} from '../transcribe/warning.js'
import {ModelUse} from './model-use.js'
import {isRegularFile, openChannels} from './open-channels.js'
import type {LiveTranscriberOptions, TranscribedFile, TranscribeHandlers, TranscriberOptions} from './options.js'
import {type MemoOf, type OpenRecording, Recognition} from './recognition.js'
import {isTextFile, refineTextFile} from './text-file.js'

/** Transcribes recordings and live audio with a model, which is opened when it is needed. */
export class Transcriber {
  readonly #options: TranscriberOptions
  readonly #use: ModelUse
  readonly #recognition: Recognition

  constructor(options: TranscriberOptions) {
    this.#options = options
    this.#use = new ModelUse(options)
    this.#recognition = new Recognition(options, this.#use)
  }

  /**
   * Transcribes a recording. The text of a `.txt` or `.md` file is only refined.
   * @throws resume_mismatch, excerpt_empty, channels_need_file; what `openAudio`, the search for the model and the engine throw; the reason of the signal
   */
  async transcribe(input: AudioInput, handlers: TranscribeHandlers = {}): Promise<TranscribedFile> {
    if ('path' in input && isTextFile(input.path)) return refineTextFile(input.path, this.#options, handlers)
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
      const opened = await openChannels(input, this.#options, {sampleRate, signal, onWarning, track, onTracks})
      recording.channels = opened.map(({audio: whole, speaker}) => {
        const audio = withGain(excerpt === undefined ? whole : excerptOf(whole, excerpt), gain, level)
        return {audio: handlers.watch?.(audio) ?? audio, speaker}
      })
      // Results of the other attempt are of other samples.
      const results: MemoOf = async (...about) => {
        const memo = await memoOf(...about)
        return gain === 1 ? memo : memo && resultsOf(memo, {gain})
      }
      return this.#recognition.recognise(recording, {...handlers, onReady}, results)
    }
    const {vad} = this.#options
    const threshold = vad.kind === 'energy' ? vad.threshold : undefined
    return amplifiedIfQuiet(
      {name, threshold, isRepeatable: isFile, onWarning},
      // The limits of a session count from the first attempt.
      (gain, level) => attempt(gain, level, gain === 1 ? handlers : {}),
    )
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
    const {engine} = await this.#use.prepare({signal}, {detects: true})
    const detectors = await this.#use.detectors([{}])
    const {channels} = this.#options
    const channel = typeof channels === 'number' ? channels : undefined
    const whole = await openAudio(input, {sampleRate, signal, onWarning, track, onTracks, channel})
    const {preprocess: prepare, speechPadSec} = this.#use.decoding(engine, undefined)
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
  async live(options: LiveTranscriberOptions): Promise<LiveTranscription<TranscribedFile>> {
    const {engine, hint} = await this.#use.prepare(options)
    const [detector] = await this.#use.detectors([{live: true, state: options.from?.detector}])
    const {text, decoding} = this.#options
    let isUnsure = false
    return new LiveTranscription({
      ...options,
      model: engine,
      detector,
      recognition: recognitionOf(this.#use.decoding(engine, hint.language)),
      hint: options.language,
      languageCode: (other) =>
        requireLanguage(other ?? decoding.language, engine.description, {isStrict: true}).language,
      // The text of an incomplete utterance is not code yet.
      finish: (raw, language) => finishText([raw], {...text, language, rank: undefined}),
      transcribe: (samples, language, memo, {signal, onWarning}) =>
        this.#recognition.recognise(
          {name: 'The speech', isFile: false, channels: [{audio: audioOf(samples)}], warnings: []},
          {
            language,
            signal,
            onWarning: (warning) => {
              // Every utterance may be unreliable; one warning is enough.
              if (warning.code !== 'recognition_unreliable' || !isUnsure) onWarning(warning)
              isUnsure ||= warning.code === 'recognition_unreliable'
            },
          },
          async () => memo,
        ),
    })
  }

  /** True for an error of this transcriber that other recordings have too: the model does not load, or lacks an ability. */
  isGeneral(error: Error): boolean {
    return this.#use.isGeneral(error)
  }

  /** Closes the model, also for other transcribers that use it. */
  async close(): Promise<void> {
    await this.#options.model.close()
  }

  /** What the text of a recording depends on before refinement. */
  #fingerprint(recording: RecordingFile, description: SpeechModelDescription, decoding: TranscribeOptions) {
    const {preprocess: loudness, vad} = this.#options
    return fingerprintOf(recording, description, {...decoding, preprocess: loudness, vad})
  }
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
