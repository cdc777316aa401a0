import type {GenerateSummary, TokenLogprob} from '../../llm/index.js'
import {type Choice, heading, type ReplyHead, type ReplyText, type StreamHead, usageOf, usageToCome} from './reply.js'

/** The reply to `POST /v1/completions` that is no stream. */
export const completion = (head: ReplyHead, choices: readonly Choice[]) => ({
  ...heading('text_completion', head),
  choices: choices.map(({text, logprobs, summary}, index) => ({
    text,
    index,
    logprobs: chances(logprobs, 0),
    finish_reason: summary.finishReason,
  })),
  usage: usageOf(choices.map(({summary}) => summary)),
})

/** @param offset characters of the choice's text before this piece, as `charactersIn` counts them */
export const completionDelta = (head: StreamHead, index: number, {text, logprobs}: ReplyText, offset: number) => ({
  ...heading('text_completion', head),
  choices: [{text, index, logprobs: chances(logprobs, offset), finish_reason: null}],
  ...usageToCome(head),
})

/** The last chunk of a choice. */
export const completionEnd = (head: StreamHead, index: number, {finishReason}: GenerateSummary) => ({
  ...heading('text_completion', head),
  choices: [{text: '', index, logprobs: null, finish_reason: finishReason}],
  ...usageToCome(head),
})

/** The last chunk of a stream whose head includes the usage: the summaries of all choices. */
export const completionUsage = (head: StreamHead, summaries: readonly GenerateSummary[]) => ({
  ...heading('text_completion', head),
  choices: [],
  usage: usageOf(summaries),
})

/** Unicode code points that begin in these tokens: a character may be spread over several. */
export const charactersIn = (tokens: readonly TokenLogprob[]): number =>
  tokens.reduce((sum, {bytes}) => sum + bytes.filter((byte) => (byte & 0xc0) !== 0x80).length, 0)

/** Columns, one entry per token; alternatives by their text, and null where none were asked for. */
function chances(tokens: readonly TokenLogprob[] | undefined, offset: number) {
  if (tokens === undefined) return null
  const withAlternatives = tokens.some(({top}) => top.length > 0)
  let at = offset
  return {
    tokens: tokens.map(({token}) => token),
    token_logprobs: tokens.map(({logprob}) => logprob),
    top_logprobs: withAlternatives
      ? tokens.map(({top}) => Object.fromEntries(top.map(({token, logprob}) => [token, logprob])))
      : null,
    text_offset: tokens.map((token) => {
      const start = at
      at += charactersIn([token])
      return start
    }),
  }
}
