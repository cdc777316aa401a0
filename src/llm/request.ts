import type {SamplingOptions} from '../sampling/index.js'
import type {ChatMessage} from '../text/index.js'

/** What a text goes on from. */
export type Prompt =
  /** The beginning-of-text token alone. */
  | {kind: 'beginning'}
  /** A text as it is. `context` holds tokens that come before it. */
  | {kind: 'raw'; text: string; context?: readonly number[]}
  /** Tokens as they are: none is added. */
  | {kind: 'tokens'; tokens: readonly number[]}
  /** A conversation, through the model's chat template; `drop_oldest` makes it fit by forgetting its oldest turns. */
  | {kind: 'chat'; messages: readonly ChatMessage[]; overflow: 'refuse' | 'drop_oldest'; context?: readonly number[]}

/** One text to generate. Every surface asks in these terms, whatever its clients speak. */
export interface GenerateRequest {
  prompt: Prompt
  /** Most tokens to generate; undefined goes on until the context is full, 0 only reads the prompt. */
  maxTokens: number | undefined
  /** Positions that prompt and reply may take together; undefined for all that the model has. */
  contextLength?: number
  /** Generation ends before any of these; they are not part of the text. */
  stop: readonly string[]
  sampling: SamplingOptions
  /** Give the log-probability of each token and of this many alternatives; undefined gives none. */
  topLogprobs?: number
  /**
   * Begin with an event about the prompt: its text as given here, or decoded from its tokens where it is true. With
   * `topLogprobs`, the event has the log-probabilities of the prompt's tokens, and those of the reply include the token
   * that ends it.
   */
  echo?: string | true
  /** False runs the base model alone, where there is an adapter. */
  adapter?: boolean
}

/** The same, of a prompt that is in tokens. */
export type TokenRequest = Omit<GenerateRequest, 'prompt'>

/** A token as it can be shown: bytes that are no characters are replaced in `token`, never in `bytes`. */
export interface TokenChance {
  token: string
  bytes: number[]
  /** Natural logarithm of its probability before any sampling option. */
  logprob: number
}

/** A generated token, with the most likely ones at its place, best first. */
export interface TokenLogprob extends TokenChance {
  top: TokenChance[]
}

/** A token of the prompt. The first one has no log-probability and no alternatives: nothing comes before it. */
export interface PromptToken extends Omit<TokenChance, 'logprob'> {
  logprob: number | null
  top: TokenChance[] | null
}

/** What came of a request. Durations in ms. */
export interface GenerateSummary {
  finishReason: 'stop' | 'length'
  promptTokens: number
  completionTokens: number
  /** Prompt and reply, for going on from them. */
  tokens: number[]
  /** From the request to the start of its computation. */
  queueMs: number
  /** From there to the first token. */
  prefillMs: number
  /** From the first token to the last. */
  decodeMs: number
}

/**
 * Text as it comes into being; `logprobs` of the tokens since the last event. The last event sums up. Where `echo` asks
 * for the prompt, it comes first.
 */
export type GenerateEvent =
  | {type: 'prompt'; text: string; logprobs?: PromptToken[]}
  | {type: 'text'; text: string; logprobs?: TokenLogprob[]}
  | ({type: 'done'} & GenerateSummary)
