import type {GenerateSummary, PromptToken, TokenLogprob} from '../../llm/index.js'
import {
  type Choice,
  heading,
  type PromptText,
  type ReplyHead,
  type ReplyText,
  type StreamHead,
  usageOf,
  usageToCome,
} from './reply.js'

/**
 * The reply to `POST /v1/completions` that is no stream.
 * @param n choices of each prompt
 */
export const completion = (head: ReplyHead, choices: readonly Choice[], n?: number) => ({
  ...heading('text_completion', head),
  choices: choices.map(({prompt = {text: ''}, text, logprobs, summary}, index) => ({
    text: prompt.text + text,
    index,
    logprobs: chances(prompt.logprobs === undefined ? logprobs : [...prompt.logprobs, ...(logprobs ?? [])], [
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

/** The first chunk of a choice whose prompt is to be repeated. */
export const completionPrompt = (head: StreamHead, index: number, prompt: PromptText) =>
  delta(head, index, prompt.text, chances(prompt.logprobs, offsetsWithin(prompt)))

/** @param offset characters of the choice's text before this piece, as `charactersIn` counts them */
export const completionDelta = (head: StreamHead, index: number, {text, logprobs}: ReplyText, offset: number) =>
  delta(head, index, text, chances(logprobs, offsetsAfter(offset, logprobs)))

const delta = (head: StreamHead, index: number, text: string, logprobs: ReturnType<typeof chances>) => ({
  ...heading('text_completion', head),
  choices: [{text, index, logprobs, finish_reason: null}],
  ...usageToCome(head),
})

/** The last chunk of a choice. */
export const completionEnd = (head: StreamHead, index: number, {finishReason}: GenerateSummary) => ({
  ...heading('text_completion', head),
  choices: [{text: '', index, logprobs: null, finish_reason: finishReason}],
  ...usageToCome(head),
})

/** The last chunk of a stream whose head includes the usage: the summaries of all choices, `n` of each prompt. */
export const completionUsage = (head: StreamHead, summaries: readonly GenerateSummary[], n?: number) => ({
  ...heading('text_completion', head),
  choices: [],
  usage: usageOf(summaries, n),
})

/** Unicode code points of a text. */
export const charactersOf = (text: string): number => [...text].length

/** Unicode code points that begin in these tokens: a character may be spread over several. */
export const charactersIn = (tokens: readonly TokenLogprob[]): number =>
  tokens.reduce((sum, {bytes}) => sum + charactersBegunIn(bytes), 0)

const charactersBegunIn = (bytes: Iterable<number>) => [...bytes].filter((byte) => (byte & 0xc0) !== 0x80).length

/** Where the tokens of a reply begin, the first of them at `offset`. */
function offsetsAfter(offset: number, tokens: readonly TokenLogprob[] = []): number[] {
  let at = offset
  return tokens.map((token) => {
    const start = at
    at += charactersIn([token])
    return start
  })
}

/**
 * Where the tokens of a prompt begin in its text. One that the text does not show, such as a beginning-of-text token,
 * takes no room; neither does the blank with which some tokenizers begin every text.
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

/** Columns, one entry per token; alternatives by their text, and null where none were asked for. */
function chances(tokens: readonly (PromptToken | TokenLogprob)[] | undefined, offsets: readonly number[]) {
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
