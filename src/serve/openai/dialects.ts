import {randomUUID} from 'node:crypto'
import type {GenerateRequest} from '../../llm/index.js'
import {sseStream} from '../../net/index.js'
import type {RequestDefaults} from '../defaults.js'
import type {Dialect, ReplyInfo} from '../dialect.js'
import {type OpenAiRequest, readChatCompletion} from './chat-request.js'
import {chatCall, chatCompletion, chatDelta, chatEnd, chatOpening, chatThinking, chatUsage} from './chat-response.js'
import {ChoiceStream, type Chunks} from './choice-stream.js'
import {readCompletion} from './completion-request.js'
import {
  charactersIn,
  charactersOf,
  completion,
  completionDelta,
  completionEnd,
  completionPrompt,
  completionUsage,
} from './completion-response.js'
import type {Choice, ReplyHead, StreamHead} from './reply.js'

/** What one of the two routes has of its own. */
interface Wire {
  prefix: string
  read(body: unknown, defaults: RequestDefaults): OpenAiRequest
  /** @param n choices per prompt */
  complete(head: ReplyHead, choices: readonly Choice[], n: number): object
  chunks(head: StreamHead, n: number): Chunks
}

const dialectOf = ({prefix, read, complete, chunks}: Wire): Dialect<OpenAiRequest> => {
  const headOf = ({model, fingerprint}: ReplyInfo): ReplyHead => ({
    id: `${prefix}-${randomUUID()}`,
    created: Math.floor(Date.now() / 1000),
    model,
    systemFingerprint: fingerprint,
  })
  return {
    read,
    requestsOf: seeded,
    whole: ({n}, info, replies) => complete(headOf(info), replies, n),
    writer({n, includeUsage}, info, count) {
      const head = {...headOf(info), includeUsage}
      return new ChoiceStream(chunks(head, n), head, count)
    },
    open: sseStream,
  }
}

/** Repeats each request `n` times, with consecutive seeds. */
const seeded = ({n, requests}: OpenAiRequest) =>
  requests
    .flatMap((request) => Array.from({length: n}, () => request))
    .map((request, i) => ({
      ...request,
      sampling: {...request.sampling, seed: (request.sampling.seed + i) % 2 ** 32},
    })) as [GenerateRequest, ...GenerateRequest[]]

/** `/v1/chat/completions` */
export const chatCompletions = dialectOf({
  prefix: 'chatcmpl',
  read: readChatCompletion,
  complete: chatCompletion,
  chunks: (head) => ({
    opening: (index) => chatOpening(head, index),
    thinking: (index, {text}) => chatThinking(head, index, text),
    text: (index, event) => chatDelta(head, index, event),
    call: (index, event) => chatCall(head, index, event),
    end: (index, summary) => chatEnd(head, index, summary),
    usage: (summaries) => chatUsage(head, summaries),
  }),
})

/** `/v1/completions` */
export const completions = dialectOf({
  prefix: 'cmpl',
  read: readCompletion,
  complete: completion,
  chunks(head, n) {
    /** Characters of each choice so far. */
    const offsets: number[] = []
    return {
      prompt(index, event) {
        offsets[index] = charactersOf(event.text)
        return completionPrompt(head, index, event)
      },
      text(index, event) {
        const offset = offsets[index] ?? 0
        offsets[index] = offset + charactersIn(event.logprobs ?? [])
        return completionDelta(head, index, event, offset)
      },
      end: (index, summary) => completionEnd(head, index, summary),
      usage: (summaries) => completionUsage(head, summaries, n),
    }
  },
})
