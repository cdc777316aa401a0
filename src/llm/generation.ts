import {createSampler, logProbabilities, type Sampler} from '../decode/index.js'
import {OutputText, type Tokenizer} from '../text/index.js'
import type {GenerateEvent, GenerateSummary, TokenChance, TokenLogprob, TokenRequest} from './request.js'

/** What a generation needs to know of its model. */
export interface GenerationModel {
  tokenizer: Tokenizer
  contextLength: number
  /** Tokens that end a text. */
  endTokens: ReadonlySet<number>
}

/**
 * One text in the making: logits go in, the next token and events come out. It knows nothing of slots and runs.
 */
export class Generation {
  /** Prompt and reply so far. */
  readonly tokens: number[]
  readonly #promptTokens: number
  readonly #tokenizer: Tokenizer
  readonly #endTokens: ReadonlySet<number>
  readonly #sample: Sampler
  readonly #output: OutputText
  readonly #topLogprobs: number | undefined
  readonly #limit: number
  readonly #arrived = performance.now()
  #started = 0
  #firstToken = 0
  #finishReason: GenerateSummary['finishReason'] | undefined
  /** Of tokens whose text is still held back. */
  #logprobs: TokenLogprob[] = []

  constructor(
    {tokenizer, contextLength: whole, endTokens}: GenerationModel,
    prompt: readonly number[],
    {sampling, stop, maxTokens, topLogprobs, contextLength = whole}: TokenRequest,
  ) {
    this.tokens = [...prompt]
    this.#promptTokens = prompt.length
    this.#tokenizer = tokenizer
    this.#endTokens = endTokens
    this.#sample = createSampler(sampling)
    this.#output = new OutputText(tokenizer, prompt, stop)
    this.#topLogprobs = topLogprobs
    this.#limit = Math.min(maxTokens ?? Number.POSITIVE_INFINITY, contextLength - prompt.length)
  }

  get finished(): boolean {
    return this.#finishReason !== undefined
  }

  get completionTokens(): number {
    return this.tokens.length - this.#promptTokens
  }

  /** Marks that the computation begins. */
  start(): void {
    this.#started = performance.now()
  }

  /**
   * Chooses the next token.
   * @param logits of the last position, `[vocabulary]`
   * @returns what can be told now
   */
  next(logits: Float32Array): GenerateEvent[] {
    if (this.completionTokens === 0) this.#firstToken = performance.now()
    const token = this.#sample(logits, this.tokens)
    if (this.#endTokens.has(token)) return this.#finish('stop')
    this.tokens.push(token)
    if (this.#topLogprobs !== undefined) this.#logprobs.push(this.#logprob(logits, token, this.#topLogprobs))
    const events = this.#tell(this.#output.push(token))
    if (this.#output.stopped) return [...events, ...this.#finish('stop')]
    if (this.completionTokens >= this.#limit) return [...events, ...this.#finish('length')]
    return events
  }

  #finish(reason: GenerateSummary['finishReason']): GenerateEvent[] {
    const rest = this.#tell(this.#output.end(), true)
    this.#finishReason = this.#output.stopped ? 'stop' : reason
    const now = performance.now()
    const summary: GenerateSummary = {
      finishReason: this.#finishReason,
      promptTokens: this.#promptTokens,
      completionTokens: this.completionTokens,
      tokens: this.tokens,
      queueMs: this.#started - this.#arrived,
      prefillMs: this.#firstToken - this.#started,
      decodeMs: now - this.#firstToken,
    }
    return [...rest, {type: 'done', ...summary}]
  }

  #tell(text: string, last = false): GenerateEvent[] {
    const logprobs = this.#logprobs
    if (text === '' && !(last && logprobs.length > 0)) return []
    this.#logprobs = []
    return [{type: 'text', text, ...(this.#topLogprobs === undefined ? {} : {logprobs})}]
  }

  #logprob(logits: Float32Array, token: number, count: number): TokenLogprob {
    const {logprob, top} = logProbabilities(logits, token, count)
    return {...this.#chance(token, logprob), top: top.map((other) => this.#chance(other.token, other.logprob))}
  }

  #chance(token: number, logprob: number): TokenChance {
    const bytes = this.#tokenizer.bytes(token)
    return {token: bytes.toString('utf8'), bytes: [...bytes], logprob}
  }
}
