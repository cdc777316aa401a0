import type {GenerateV1} from '../contracts/index.js'
import {counted} from '../errors/index.js'
import type {Engine, GenerateSummary} from '../llm/index.js'
import {megabytes} from './progress.js'
import {formatTable} from './table.js'

/** Figures of a reply. */
export type ReplyStats = Pick<
  GenerateV1,
  | 'precision'
  | 'finish_reason'
  | 'prompt_tokens'
  | 'cached_tokens'
  | 'completion_tokens'
  | 'memory_bytes'
  | 'timings'
  | 'weights'
>

const tenths = (value: number) => Math.round(value * 10) / 10
const perSecond = (count: number, ms: number) => tenths((count / ms) * 1000)

/** @param firstTokenMs from the request to the first event */
export function replyStats(
  {description, loadMs}: Pick<Engine, 'description' | 'loadMs'>,
  summary: GenerateSummary,
  firstTokenMs: number,
): ReplyStats {
  const {finishReason, promptTokens, cachedTokens, completionTokens, prefillMs, decodeMs} = summary
  return {
    precision: description.precision,
    finish_reason: finishReason,
    prompt_tokens: promptTokens,
    cached_tokens: cachedTokens,
    completion_tokens: completionTokens,
    memory_bytes: process.memoryUsage.rss(),
    timings: {
      load_ms: tenths(loadMs),
      first_token_ms: tenths(firstTokenMs),
      prefill_ms: tenths(prefillMs),
      prefill_tokens_per_second: perSecond(promptTokens - cachedTokens, prefillMs),
      decode_ms: tenths(decodeMs),
      decode_tokens_per_second: completionTokens < 2 ? null : perSecond(completionTokens - 1, decodeMs),
    },
  }
}

/** A table of the figures. */
export function formatStats(stats: ReplyStats): string {
  const {timings, prompt_tokens: prompt, cached_tokens: cached, completion_tokens: reply} = stats
  const speed = timings.decode_tokens_per_second
  return formatTable(
    ['FIGURE', 'VALUE'],
    [
      ['precision', stats.precision],
      ['load time', `${timings.load_ms} ms`],
      ['time to first token', `${timings.first_token_ms} ms`],
      ['prompt', `${counted(prompt, 'token')} (${cached} cached), ${timings.prefill_tokens_per_second} tokens/s`],
      ['reply', `${counted(reply, 'token')}${speed === null ? '' : `, ${speed} tokens/s`}`],
      ['memory', `${Math.round(stats.memory_bytes / 1e6)} MB`],
      ...(stats.weights ?? []).map(({type, bytes, error}) => [
        `weights ${type}`,
        `${megabytes(bytes)} MB${error === null ? '' : error === 0 ? ', exact' : `, error ${(100 * error).toFixed(2)} %`}`,
      ]),
    ],
  ).trimEnd()
}
