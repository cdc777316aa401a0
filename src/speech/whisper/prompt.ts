import type {RecognitionOptions} from '../model/model.js'
import type {WhisperVocabulary} from './vocabulary.js'

/** The decoder prompt. */
export interface Prompt {
  tokens: number[]
  /** Index of the start-of-transcript token, whose logits contain the no-speech probability. */
  startIndex: number
}

/**
 * Builds the prompt `startofprev …, startoftranscript, language, task`; the previous text is limited to half of the
 * context. Hotwords and the initial prompt precede the tokens of earlier windows and are never displaced by them.
 * Source: Radford et al. 2022, figure 1.
 * @param context number of decoder positions
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

/** `startoftranscript`; in a multilingual model followed by language and task. */
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
  const hints = [hotwords.join(', '), prompt ?? ''].map((text) => text.trim()).filter((text) => text !== '')
  const fixed = hints.flatMap((text) => tokenizer.encode(` ${text}`, {special: false})).slice(0, room)
  const left = room - fixed.length
  const tokens = [...fixed, ...(left > 0 ? previousTokens.slice(-left) : [])]
  return tokens.length === 0 ? [] : [startOfPrevious, ...tokens]
}
