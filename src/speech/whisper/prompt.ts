import type {RecognitionOptions} from '../model.js'
import type {WhisperVocabulary} from './vocabulary.js'

/** What the decoder reads before it writes. */
export interface Prompt {
  tokens: number[]
  /** Where the start of the transcript lies: there the model says whether anybody speaks. */
  startIndex: number
}

/**
 * What was said before, cut to half of the context, then the task: `startofprev …, startoftranscript, language, task`.
 * Hotwords and the caller's own words stand before the tokens of earlier windows, and keep their place when those grow.
 * Source: Radford et al. 2022, figure 1.
 * @param context decoder positions in all
 */
export function buildPrompt(
  vocabulary: WhisperVocabulary,
  {language, task}: {language: string | undefined; task: RecognitionOptions['task']},
  before: Pick<RecognitionOptions, 'prompt' | 'previousTokens' | 'hotwords'>,
  {timestamps, context}: {timestamps: boolean; context: number},
): Prompt {
  const past = previousText(vocabulary, before, Math.floor(context / 2) - 1)
  const start = taskTokens(vocabulary, language, task)
  const ending = timestamps || vocabulary.noTimestamps === undefined ? [] : [vocabulary.noTimestamps]
  return {tokens: [...past, ...start, ...ending], startIndex: past.length}
}

/** `startoftranscript`, and in a multilingual model language and task. */
export function taskTokens(
  {startOfTranscript, languages, transcribe, translate}: WhisperVocabulary,
  language: string | undefined,
  task: RecognitionOptions['task'],
): number[] {
  const words = [startOfTranscript, languages.get(language ?? ''), task === 'translate' ? translate : transcribe]
  return words.filter((token) => token !== undefined)
}

function previousText(
  {tokenizer, startOfPrevious}: WhisperVocabulary,
  {prompt, previousTokens = [], hotwords}: Pick<RecognitionOptions, 'prompt' | 'previousTokens' | 'hotwords'>,
  room: number,
): number[] {
  if (startOfPrevious === undefined || room < 1) return []
  const given = [hotwords.join(', '), prompt ?? ''].map((text) => text.trim()).filter((text) => text !== '')
  const fixed = given.flatMap((text) => tokenizer.encode(` ${text}`, {special: false})).slice(0, room)
  const left = room - fixed.length
  const tokens = [...fixed, ...(left > 0 ? previousTokens.slice(-left) : [])]
  return tokens.length === 0 ? [] : [startOfPrevious, ...tokens]
}
