import type {speechAudioSettings, speechRefineSettings, speechSettings, TableValues} from '../../config/index.js'
import {SvcError} from '../../errors/index.js'
import type {DecodingConstraints} from '../model/model.js'
import {biasPhrases, namePhrases} from '../text/bias-phrases.js'
import type {Lexicon} from '../text/lexicon.js'
import {defaultTranscribeOptions} from '../transcribe/options.js'
import type {TranscriberOptions, VadChoice} from '../transcriber/options.js'
import type {SettingChoice} from './speech-service.js'

/** Resolved settings by table. */
export interface SpeechSettingValues {
  speech: TableValues<typeof speechSettings>
  audio: TableValues<typeof speechAudioSettings>
  refine: TableValues<typeof speechRefineSettings>
}

/** Replaces settings by the fields of a request. */
export const chosenSettings = <S extends Pick<SpeechSettingValues, 'speech' | 'refine'>>(
  settings: S,
  {profile, task, word_timestamps: wordTimestamps, prompt, temperature}: SettingChoice,
): S => ({
  ...settings,
  refine: {...settings.refine, profile: profile ?? settings.refine.profile},
  speech: {
    ...settings.speech,
    task: task ?? settings.speech.task,
    wordTimestamps: wordTimestamps ?? settings.speech.wordTimestamps,
    initialPrompt: prompt ?? settings.speech.initialPrompt,
    temperature: temperature ?? settings.speech.temperature,
  },
})

/**
 * Converts settings to options of a transcriber.
 * @param symbols names that the programs of the workspace declare
 * @throws vad_model_missing
 */
export const transcriberOptions = (
  settings: SpeechSettingValues,
  lexicon: Lexicon,
  symbols: readonly string[],
): Pick<TranscriberOptions, 'decoding' | 'preprocess' | 'vad' | 'text' | 'channels' | 'speakers'> => {
  const {acousticPreprocess, acousticPreprocessBudgetMs, rmsTargetDbfs, channels, speakers} = settings.audio
  const {sessionHotwords, maxBiasPhrases} = settings.refine
  // Names never displace the phrases that the user specified.
  const room = maxBiasPhrases - biasPhrases(lexicon, sessionHotwords, maxBiasPhrases).length
  const names = namePhrases(symbols).slice(0, room)
  return {
    decoding: decoding(settings, lexicon, names),
    preprocess: {mode: acousticPreprocess, budgetMs: acousticPreprocessBudgetMs, rmsTargetDbfs},
    vad: vad(settings),
    text: text(settings, lexicon, names),
    channels,
    speakers,
  }
}

function decoding(
  {speech, audio, refine}: SpeechSettingValues,
  lexicon: Lexicon,
  names: readonly string[],
): TranscriberOptions['decoding'] {
  const {contextualBias, sessionHotwords} = refine
  return {
    ...defaultTranscribeOptions,
    language: speech.language,
    task: speech.task,
    prompt: speech.initialPrompt,
    beamSize: speech.beamSize,
    bestOf: speech.bestOf,
    patience: speech.patience,
    lengthPenalty: speech.lengthPenalty,
    temperatures: temperaturesOf(speech),
    seed: speech.seed,
    noSpeechThreshold: speech.noSpeechThreshold,
    logprobThreshold: speech.logprobThreshold,
    compressionRatioThreshold: speech.compressionRatioThreshold,
    conditionOnPrevious: speech.conditionOnPrevious,
    hallucinationSilenceSec: speech.hallucinationSilenceThreshold,
    // Hallucinations are recognised by their words.
    wordTimestamps: speech.wordTimestamps || speech.hallucinationSilenceThreshold !== undefined,
    pieces: speech.streamTokens,
    hotwords: contextualBias ? sessionHotwords : [],
    constraints: constraints(refine, lexicon, names),
    alternatives: speech.beamSize,
    speechPadSec: audio.vadSpeechPadMs / 1000,
    chunkSec: audio.chunkSec,
    batch: audio.batch,
    chunkOverlapSec: audio.chunkOverlapSec,
  }
}

/** The temperatures of a decoding: from the first one to 1. */
export function temperaturesOf({
  temperature,
  temperatureIncrement: step,
}: Pick<SpeechSettingValues['speech'], 'temperature' | 'temperatureIncrement'>): number[] {
  const count = step === 0 ? 1 : Math.floor((1 - temperature) / step + 1e-6) + 1
  // Rounded, 0.2 + 0.4 is 0.6.
  return Array.from({length: count}, (_, i) => Number((temperature + i * step).toFixed(6)))
}

/** Stands for the tokens that the model itself lists, as in openai/whisper. */
const listOfModel = -1

function constraints(
  refine: SpeechSettingValues['refine'],
  lexicon: Lexicon,
  names: readonly string[],
): DecodingConstraints {
  const {contextualBias, maxBiasPhrases, sessionHotwords, constrainedTrie} = refine
  const suppressed = [...new Set([...refine.suppressTokens, ...refine.logitForbidTokens])]
  const phrases = [...biasPhrases(lexicon, [], maxBiasPhrases), ...sessionHotwords, ...names]
  return {
    bias: contextualBias ? withoutVariants(phrases) : [],
    biasStrength: refine.logitBiasStrength,
    biasMaxTokens: refine.logitBiasMaxTokens,
    forbidden: suppressed.filter((token) => token !== listOfModel),
    allowListed: !suppressed.includes(listOfModel),
    phrases: constrainedTrie ? refine.constrainedPhrases : [],
    stuckSteps: refine.trieStuckSteps,
  }
}

/** Omits phrases that differ from an earlier one only in case. */
function withoutVariants(phrases: readonly string[]): string[] {
  const lower = phrases.map((phrase) => phrase.toLowerCase())
  return phrases.filter((_, i) => lower.indexOf(lower[i] as string) === i)
}

function vad({audio}: SpeechSettingValues): VadChoice {
  const {vad: kind, vadEnabled, vadModel, vadThreshold, vadEnergyThreshold} = audio
  const {vadMergeGapMs: mergeGapMs, vadMinSpeechMs: minSpeechMs, vadMaxSpeechSec: maxRegionSec} = audio
  const limits = {mergeGapMs, minSpeechMs, maxRegionSec}
  if (!vadEnabled || kind === 'none') return {kind: 'none'}
  if (kind === 'energy') return {kind: 'energy', threshold: vadEnergyThreshold, ...limits}
  if (vadModel === undefined) throw new SvcError('vad_model_missing', {})
  return {kind: 'neural', model: vadModel, threshold: vadThreshold, ...limits}
}

const text = (
  {refine}: SpeechSettingValues,
  lexicon: Lexicon,
  names: readonly string[],
): TranscriberOptions['text'] => ({
  profile: refine.profile,
  domain: refine.domainMode,
  settings: {
    conservativeBase: refine.refineConservativeBase,
    balancedBase: refine.refineBalancedBase,
    aggressiveBase: refine.refineAggressiveBase,
    penaltyPerTrace: refine.refinePenaltyPerTrace,
    penaltyCap: refine.refinePenaltyCap,
    confidenceMin: refine.refineConfidenceMin,
    confidenceMax: refine.refineConfidenceMax,
  },
  lexicon,
  hotwords: [...refine.sessionHotwords, ...names],
  contextualBias: refine.contextualBias,
  maxBiasPhrases: refine.maxBiasPhrases,
})
