import type {ReplyFormat} from '../grammar/index.js'
import type {SamplingOptions} from '../sampling/index.js'
import type {ChatMessage, TemplateVariables} from '../text/index.js'
import type {AdapterSource} from './adapters/resident-adapters.js'
import type {RequestClient} from './fair-queue.js'
import type {PreparedFormat} from './prepared-format.js'
import type {ThinkingLimit} from './thinking-budget.js'
import type {Thinking, ToolUse} from './tools.js'

/** Start of the text to generate. */
export type Prompt =
  /** Only the beginning-of-text token. */
  | {kind: 'beginning'}
  /** Plain text. `context` contains the tokens before it. */
  | {kind: 'raw'; text: string; context?: readonly number[]}
  /** Two texts between which the model inserts text (fill in the middle). One of them may be empty. */
  | {kind: 'insertion'; text: string; suffix: string}
  /** Tokens, without any added special token. */
  | {kind: 'tokens'; tokens: readonly number[]}
  /**
   * A conversation, formatted with the chat template; `drop_oldest` drops its oldest turns until it fits. `context`
   * contains the tokens of an earlier turn, without the end token of its answer. The template also sees the variables.
   */
  | {
      kind: 'chat'
      messages: readonly ChatMessage[]
      overflow: 'refuse' | 'drop_oldest'
      context?: readonly number[]
      variables?: TemplateVariables
    }

/** A generation request. All protocols are translated to it. */
export interface GenerateRequest {
  prompt: Prompt
  /** Maximum tokens to generate; undefined: until the context is full; 0: only prefill the prompt. */
  maxTokens: number | undefined
  /** Maximum tokens of prompt and reply together; default: the context length of the model. */
  contextLength?: number
  /**
   * Stop strings: generation ends before any of them, and they are not part of the text. They may contain the names of
   * special tokens, which are not part of the text either.
   */
  stop: readonly string[]
  sampling: SamplingOptions
  /**
   * What the reply must match. Tokens that do not are never selected, whatever the sampling options are. The reply ends where
   * it is complete; with the finish reason `length`, it is only the beginning of a reply that matches.
   */
  format?: ReplyFormat
  /** Tools that the reply may call instead; only in a conversation. Their arguments are always valid. */
  tools?: ToolUse
  /** Only in a conversation. Default: as the chat template and the model do. */
  thinking?: Thinking
  /** Return the log-probability of each token and of this many alternatives; default: none. */
  topLogprobs?: number
  /**
   * Emit a first event for the prompt, with its counts and this text, or decoded from its tokens if true. With `topLogprobs`, the event
   * has the log-probabilities of the prompt's tokens, and those of the reply include the end token.
   */
  echo?: string | true
  /** The adapter of the reply; false: none; default: that of the run directory. */
  adapter?: AdapterSource | false
  /** Whose share of the model it uses. It never changes the reply. Default: one client for all requests without one. */
  client?: RequestClient
}

/** A request whose prompt is tokenized separately, and whose format, tools and thinking have been read. */
export interface TokenRequest extends Omit<GenerateRequest, 'prompt' | 'format' | 'tools' | 'thinking'> {
  prepared?: PreparedFormat
  /** Only with a prepared format, which has the thinking. */
  limit?: ThinkingLimit
  /** Special tokens that are part of the text, and the characters that stand for them there. */
  marks?: readonly (readonly [token: number, character: string])[]
}

/** A token with its log-probability. Invalid UTF-8 is replaced in `token`, but not in `bytes`. */
export interface ScoredToken {
  token: string
  bytes: number[]
  /** Natural logarithm of its probability, before the format and any sampling option are applied. */
  logprob: number
}

/** A generated token, with the most likely tokens at its position, best first. */
export interface TokenLogprob extends ScoredToken {
  top: ScoredToken[]
}

/** A token of the prompt. The first one has no log-probability and no alternatives, because nothing precedes it. */
export interface PromptToken extends Omit<ScoredToken, 'logprob'> {
  logprob: number | null
  top: ScoredToken[] | null
}

export interface PromptCounts {
  promptTokens: number
  /** Tokens of the prompt that were not computed, because they begin an earlier prompt. */
  cachedTokens: number
}

/** Outcome of a request. Durations are in ms. */
export interface GenerateSummary extends PromptCounts {
  /** `length`: the reply has been truncated; with a format, also by a stop string. `tool_calls`: it ends with calls. */
  finishReason: 'stop' | 'length' | 'tool_calls'
  /** The stop string that ended the reply, if one did. */
  stopString?: string
  completionTokens: number
  /** Tokens of the reply with what the model thought, its tags included; absent if its model does not think. */
  reasoningTokens?: number
  /** Tokens of prompt and reply, without a stop string, to continue from. */
  tokens: number[]
  /** From the arrival of the request to its start. */
  queueMs: number
  /** From the start to the first token. */
  prefillMs: number
  /** From the first token to the last. */
  decodeMs: number
}

/**
 * An event of a generation. `prompt` is first and only sent with `echo`; `text` has the `logprobs` of the tokens since
 * the previous event, and the number of tokens so far; `done` is last. A `call` of a tool is followed by its `arguments`, whose
 * texts join to a JSON text that is complete after the last.
 */
export type GenerateEvent =
  | ({type: 'prompt'; text: string; logprobs?: PromptToken[]} & PromptCounts)
  | {type: 'thinking'; text: string}
  | {type: 'text'; text: string; tokens: number; logprobs?: TokenLogprob[]}
  | {type: 'call'; index: number; id: string; name: string}
  | {type: 'arguments'; index: number; text: string; isLast: boolean}
  | ({type: 'done'} & GenerateSummary)
