import {energyVad, preprocess, type VoiceActivityDetector, type VoiceActivityState} from '../../audio/index.js'
import {SvcError} from '../../errors/index.js'
import type {SpeechEngine} from '../engine/engine.js'
import {biasPhrases} from '../text/bias-phrases.js'
import {requireLanguage} from '../text/language-hint.js'
import type {TranscribeOptions} from '../transcribe/options.js'
import type {TranscribeHandlers, TranscriberOptions} from './options.js'

/** How a detector is created: for live audio, and from the state of another one. */
interface DetectorOptions {
  live?: boolean
  state?: VoiceActivityState | undefined
}

/** Opens the model and the detectors of a transcriber, and derives the options of a decoding. */
export class ModelUse {
  readonly #options: TranscriberOptions
  /** Errors that other recordings would have, too. */
  readonly #general = new WeakSet<Error>()

  constructor(options: TranscriberOptions) {
    this.#options = options
  }

  /** True for an error of this transcriber that other recordings have too: the model does not load, or lacks an ability. */
  isGeneral(error: Error): boolean {
    return this.#general.has(error)
  }

  /** @param detects true if the model must detect languages */
  async prepare(
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
      throw this.general(error)
    }
  }

  async detectors(options: readonly DetectorOptions[]): Promise<(VoiceActivityDetector | undefined)[]> {
    try {
      return await Promise.all(options.map((one) => this.#detector(one)))
    } catch (error) {
      throw this.general(error)
    }
  }

  async #detector({live = false, state}: DetectorOptions): Promise<VoiceActivityDetector | undefined> {
    const {vad, model} = this.#options
    if (vad.kind === 'none') return undefined
    if (vad.kind === 'energy') return energyVad({...vad, live, state})
    return (await model.vadModel(vad.model)).detector({...vad, state})
  }

  /** Options of a decoding with this model. */
  decoding({description}: SpeechEngine, language: string | undefined): TranscribeOptions {
    const {decoding, preprocess: loudness, prefersWords = false, text} = this.#options
    const wordTimestamps = decoding.wordTimestamps || (prefersWords && description.wordTimings)
    const phrases = text.contextualBias ? biasPhrases(text.lexicon, text.hotwords, text.maxBiasPhrases) : []
    const preferred = {phrases, strength: decoding.constraints.biasStrength}
    const options = {...decoding, language, wordTimestamps, preferred}
    if (loudness.mode === 'none') return options
    return {...options, preprocess: (samples) => preprocess(samples, loudness).samples}
  }

  /** Records that other recordings would have this error, too. */
  general(error: unknown): unknown {
    if (error instanceof Error) this.#general.add(error)
    return error
  }
}

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
