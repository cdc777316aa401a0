import {existsSync} from 'node:fs'
import {join} from 'node:path'
import {SvcError} from '../errors/index.js'
import type {ReplyRules} from '../sampling/index.js'
import type {RunDirectory} from '../weights/index.js'

type Config = Readonly<Record<string, unknown>>

/**
 * Reads the rules for replies in a `generation_config.json`; absent keys and null demand nothing.
 * @param folders where it may be, for errors
 * @throws model_file_invalid
 */
export function readReplyRules(config: Config, {path, basePath}: Pick<RunDirectory, 'path' | 'basePath'>): ReplyRules {
  const read = <T>(key: string, fallback: T, isValid: (value: unknown) => boolean, expected: string): T => {
    const value = config[key] ?? undefined
    if (value === undefined) return fallback
    if (isValid(value)) return value as T
    const reason = `${key} must be ${expected}, not ${JSON.stringify(value)}`
    const file = [path, basePath].map((folder) => join(folder, 'generation_config.json')).find(existsSync)
    throw new SvcError('model_file_invalid', {file: file ?? path, reason})
  }
  const ids = (key: string) =>
    [read<number | number[]>(key, [], (value) => areIds([value].flat()), 'a token id or a list of them')].flat()
  const count = (key: string) => read<number | undefined>(key, undefined, isId, 'an integer of at least 0')
  return {
    suppressed: ids('suppress_tokens'),
    suppressedFirst: ids('begin_suppress_tokens'),
    badWords: read('bad_words_ids', [], areSequences, 'a list of lists of token ids'),
    forcedFirst: ids('forced_bos_token_id'),
    forcedLast: ids('forced_eos_token_id'),
    minNewTokens: count('min_new_tokens'),
    minLength: count('min_length') ?? 0,
    repetitionPenalty: read('repetition_penalty', 1, isPositive, 'a number above 0'),
  }
}

const isId = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const areIds = (values: readonly unknown[]): boolean => values.every(isId)
const areSequences = (value: unknown): boolean =>
  Array.isArray(value) && value.every((ids) => Array.isArray(ids) && ids.length > 0 && areIds(ids))
const isPositive = (value: unknown): boolean => Number.isFinite(value) && (value as number) > 0
