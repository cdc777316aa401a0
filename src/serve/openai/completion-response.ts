import type {GenerateSummary, PromptToken, TokenLogprob} from '../../llm/index.js'
import {
  type Choice,
  heading,
  type PromptText,
  pendingUsage,
  type ReplyHead,
  type ReplyText,
  type StreamHead,
  usageOf,
} from './reply.js'

/**
 * Response to `POST /v1/completions` without `stream`.
 * @param n choices per prompt
 */
export const completion = (head: ReplyHead, choices: readonly Choice[], n?: number) => ({
  ...heading('text_completion', head),
  choices: choices.map(({prompt = {text: ''}, text, logprobs, summary}, index) => ({
    text: prompt.text + text,
    index,
    logprobs: logprobColumns(prompt.logprobs === undefined ? logprobs : [...prompt.logprobs, ...(logprobs ?? [])], [
      ...offsetsWithin(prompt),
      ...offsetsAfter(charactersOf(prompt.text), logprobs),
    ]),
    finish_reason: summary.finishReason,
  })),
  usage: usageOf(
    choices.map(({summary}) => summary),
    n,
  ),
})

/** The first chunk of a choice with `echo`. */
export const completionPrompt = (head: StreamHead, index: number, prompt: PromptText) =>
  delta(head, index, prompt.text, logprobColumns(prompt.logprobs, offsetsWithin(prompt)))

/** @param offset characters of the choice's text before this chunk, as counted by `charactersIn` */
export const completionDelta = (head: StreamHead, index: number, {text, logprobs}: ReplyText, offset: number) =>
  delta(head, index, text, logprobColumns(logprobs, offsetsAfter(offset, logprobs)))

const delta = (head: StreamHead, index: number, text: string, logprobs: ReturnType<typeof logprobColumns>) => ({
  ...heading('text_completion', head),
  choices: [{text, index, logprobs, finish_reason: null}],
  ...pendingUsage(head),
})

/** The last chunk of a choice. */
export const completionEnd = (head: StreamHead, index: number, {finishReason}: GenerateSummary) => ({
  ...heading('text_completion', head),
  choices: [{text: '', index, logprobs: null, finish_reason: finishReason}],
  ...pendingUsage(head),
})

/** The last chunk of a stream with `include_usage`; `n` is the number of choices per prompt. */
export const completionUsage = (head: StreamHead, summaries: readonly GenerateSummary[], n?: number) => ({
  ...heading('text_completion', head),
  choices: [],
  usage: usageOf(summaries, n),
})

/** Number of Unicode code points. */
export const charactersOf = (text: string): number => [...text].length

/** Number of Unicode code points that begin in these tokens; a character may span several tokens. */
export const charactersIn = (tokens: readonly TokenLogprob[]): number =>
  tokens.reduce((sum, {bytes}) => sum + charactersBegunIn(bytes), 0)

const charactersBegunIn = (bytes: Iterable<number>) => [...bytes].filter((byte) => (byte & 0xc0) !== 0x80).length

/** Offsets of the tokens of a reply; the first token is at `offset`. */
function offsetsAfter(offset: number, tokens: readonly TokenLogprob[] = []): number[] {
  let at = offset
  return tokens.map((token) => {
    const start = at
    at += charactersIn([token])
    return start
  })
}

/**
 * Offsets of the tokens of a prompt in its text. Tokens without text, such as a beginning-of-text token, have no
 * length; neither has the space that some tokenizers add at the start of every text.
 */
function offsetsWithin({text, logprobs = []}: PromptText): number[] {
  let rest = Buffer.from(text)
  let at = 0
  return logprobs.map(({bytes}) => {
    const start = at
    const forms = [bytes, bytes[0] === 0x20 ? bytes.slice(1) : []].map((form) => Buffer.from(form))
    const form = forms.find((candidate) => rest.subarray(0, candidate.length).equals(candidate)) ?? Buffer.alloc(0)
    rest = rest.subarray(form.length)
    at += charactersBegunIn(form)
    return start
  })
}

/** One list per property, with one entry per token; `top_logprobs` is null if no alternatives were requested. */
function logprobColumns(tokens: readonly (PromptToken | TokenLogprob)[] | undefined, offsets: readonly number[]) {
  if (tokens === undefined) return null
  const withAlternatives = tokens.some(({top}) => top !== null && top.length > 0)
  return {
    tokens: tokens.map(({token}) => token),
    token_logprobs: tokens.map(({logprob}) => logprob),
    top_logprobs: withAlternatives
      ? tokens.map(({top}) => top && Object.fromEntries(top.map(({token, logprob}) => [token, logprob])))
      : null,
    text_offset: offsets,
  }
}
