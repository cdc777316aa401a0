import {SvcError} from '../../errors/index.js'
import type {Tokenizer} from '../../text/index.js'

/** Seconds between two timestamp tokens. */
export const timestampStepSec = 0.02

/** The last timestamp token is `<|30.00|>`, regardless of the model's window. */
const timestampCount = 1501

/** The special tokens of a Whisper model, found by name because their ids differ between models. */
export interface WhisperVocabulary {
  readonly tokenizer: Tokenizer
  readonly size: number
  readonly endOfText: number
  readonly startOfTranscript: number
  /** Precedes the previous text in the prompt. */
  readonly startOfPrevious: number | undefined
  readonly noSpeech: number | undefined
  readonly noTimestamps: number | undefined
  /** `<|0.00|>`; undefined if the model has no timestamps. */
  readonly firstTimestamp: number | undefined
  readonly lastTimestamp: number | undefined
  /** Undefined in a monolingual model, whose prompt has no task token. */
  readonly transcribe: number | undefined
  readonly translate: number | undefined
  /** Language tokens by code, in the order of their ids; empty in a monolingual model. */
  readonly languages: ReadonlyMap<string, number>
  /** Never decoded: the tokens that the model lists, which are symbols that are not spoken, and those of the prompt. */
  readonly suppressed: readonly number[]
  /** Tokens that occur only in the prompt. */
  readonly promptOnly: readonly number[]
  /** Never decoded first: the space and the end of text. */
  readonly suppressedAtBegin: readonly number[]
}

interface TokenSources {
  tokenizer: Tokenizer
  /** Path of the tokenizer, for errors. */
  file: string
  size: number
  config: Readonly<Record<string, unknown>>
  generationConfig: Readonly<Record<string, unknown>>
}

/**
 * Finds the special tokens in the tokenizer or, if it is incomplete, in the configurations.
 * @throws tokenizer_mismatch if tokens are missing or outside the model's vocabulary
 */
export function readVocabulary({tokenizer, file, size, config, generationConfig}: TokenSources): WhisperVocabulary {
  const declared = (key: string) => wholeNumber(generationConfig[key]) ?? wholeNumber(config[key])
  const required = (name: string, key: string): number => {
    const id = tokenizer.id(name) ?? declared(key)
    if (id === undefined) throw new SvcError('tokenizer_mismatch', {file, reason: `it has no token ${name}`})
    if (id >= size)
      throw new SvcError('tokenizer_mismatch', {
        file,
        reason: `its token ${name} has the id ${id}, but the model has ${size} tokens`,
      })
    return id
  }
  const optional = (...names: string[]) =>
    names.map((name) => tokenizer.id(name)).find((id) => id !== undefined && id < size)
  const endOfText = required('<|endoftext|>', 'eos_token_id')
  const startOfTranscript = required('<|startoftranscript|>', 'decoder_start_token_id')
  const noTimestamps = optional('<|notimestamps|>') ?? wholeNumber(generationConfig.no_timestamps_token_id)
  const timestamps = timestampRange(optional('<|0.00|>'), noTimestamps, size)
  const task = {transcribe: optional('<|transcribe|>'), translate: optional('<|translate|>')}
  const languages = languageTokens(
    tokenizer,
    generationConfig,
    startOfTranscript,
    task.translate ?? task.transcribe,
    size,
  )
  const multilingual = languages.size > 1 && generationConfig.is_multilingual !== false
  const startOfPrevious = optional('<|startofprev|>')
  const noSpeech = optional('<|nospeech|>', '<|nocaptions|>')
  const special = [
    startOfTranscript,
    startOfPrevious,
    optional('<|startoflm|>'),
    noSpeech,
    task.transcribe,
    task.translate,
  ]
  const listed = numbers(generationConfig.suppress_tokens) ?? numbers(config.suppress_tokens)
  return {
    tokenizer,
    size,
    endOfText,
    startOfTranscript,
    startOfPrevious,
    noSpeech,
    noTimestamps,
    ...timestamps,
    transcribe: multilingual ? task.transcribe : undefined,
    translate: multilingual ? task.translate : undefined,
    languages: multilingual ? languages : new Map(),
    suppressed: unique([...(listed ?? nonSpeechTokens(tokenizer)), ...special, ...languages.values()], size),
    promptOnly: unique([...special, ...languages.values()], size),
    suppressedAtBegin: unique(
      [...(numbers(generationConfig.begin_suppress_tokens) ?? [tokenizer.tokenOf(' ')]), endOfText],
      size,
    ),
  }
}

const wholeNumber = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined

const numbers = (value: unknown): number[] | undefined =>
  Array.isArray(value) && value.length > 0 ? value.filter((item) => wholeNumber(item) !== undefined) : undefined

const unique = (ids: readonly (number | undefined)[], size: number): number[] => [
  ...new Set(ids.filter((id): id is number => id !== undefined && id < size)),
]

function timestampRange(named: number | undefined, noTimestamps: number | undefined, size: number) {
  // Tokenizers of the first release omit the timestamps; their ids follow all others.
  const first = named ?? (noTimestamps !== undefined && noTimestamps + 1 < size ? noTimestamps + 1 : undefined)
  const last = first === undefined ? undefined : Math.min(first + timestampCount, size) - 1
  return {firstTimestamp: first, lastTimestamp: last}
}

/** The ids of language tokens are between the start of transcript and the task tokens. */
function languageTokens(
  tokenizer: Tokenizer,
  generationConfig: Readonly<Record<string, unknown>>,
  startOfTranscript: number,
  firstTask: number | undefined,
  size: number,
): Map<string, number> {
  const listed = generationConfig.lang_to_id
  const entries =
    typeof listed === 'object' && listed !== null
      ? Object.entries(listed)
      : tokenizer.specials.map((token) => [token, tokenizer.id(token)] as const)
  const languages = entries.flatMap(([token, id]) => {
    const code = /^<\|([a-z]{2,3})\|>$/.exec(token)?.[1]
    const between = typeof id === 'number' && id > startOfTranscript && id < Math.min(firstTask ?? size, size)
    return code !== undefined && between ? [[code, id] as const] : []
  })
  return new Map(languages.sort(([, a], [, b]) => a - b))
}

/** Symbols that are not spoken: brackets, subtitle dashes, musical notes. */
const nonSpeech = [
  ...'"#()*+/:;<=>@[\\]^_`{|}~「」『』',
  ...['<<', '>>', '<<<', '>>>', '--', '---', '-(', '-[', "('", '("', '((', '))', '(((', ')))', '[[', ']]', '{{', '}}'],
  ...['♪♪', '♪♪♪', '♩', '♪', '♫', '♬', '♭', '♮', '♯'],
]

/** Tokens of these symbols, for checkpoints without a list of suppressed tokens. */
function nonSpeechTokens(tokenizer: Tokenizer): (number | undefined)[] {
  // A dash or an apostrophe is suppressed only at the start of a word.
  return [...nonSpeech.flatMap((mark) => [mark, ` ${mark}`]), ' -', " '"].map(tokenizer.tokenOf)
}

export const timestampSec = ({firstTimestamp}: WhisperVocabulary, token: number): number =>
  (token - (firstTimestamp ?? token)) * timestampStepSec
