import {createSampler, logProbabilities, type Sampler} from '../sampling/index.js'
import {OutputText, type Tokenizer} from '../text/index.js'
import type {GenerateEvent, GenerateSummary, PromptToken, ScoredToken, TokenLogprob, TokenRequest} from './request.js'

/** The properties of a model that a generation needs. */
export interface GenerationModel {
  tokenizer: Tokenizer
  contextLength: number
  endTokens: ReadonlySet<number>
}

/**
 * State of one generated text: selects tokens from logits and returns events. Independent of slots and graph runs.
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
  readonly #echo: TokenRequest['echo']
  readonly #limit: number
  readonly #arrived = performance.now()
  #started = 0
  #firstToken = 0
  #finishReason: GenerateSummary['finishReason'] | undefined
  /** Log-probabilities of tokens whose text has not been emitted yet. */
  #logprobs: TokenLogprob[] = []
  /** Log-probabilities of the prompt, as far as it has been scored. */
  readonly #promptLogprobs: PromptToken[] = []

  constructor(
    {tokenizer, contextLength: modelContext, endTokens}: GenerationModel,
    prompt: readonly number[],
    {sampling, stop, maxTokens, topLogprobs, echo, contextLength = modelContext}: TokenRequest,
  ) {
    this.tokens = [...prompt]
    this.#promptTokens = prompt.length
    this.#tokenizer = tokenizer
    this.#endTokens = endTokens
    this.#sample = createSampler(sampling)
    this.#output = new OutputText(tokenizer, prompt, stop)
    this.#topLogprobs = topLogprobs
    this.#echo = echo
    this.#limit = Math.min(maxTokens ?? Number.POSITIVE_INFINITY, contextLength - prompt.length)
  }

  get finished(): boolean {
    return this.#finishReason !== undefined
  }

  get completionTokens(): number {
    return this.tokens.length - this.#promptTokens
  }

  /** Whether the logits of every position of the prompt are needed, not only of the last one. */
  get scoresPrompt(): boolean {
    return this.#echo !== undefined && this.#topLogprobs !== undefined
  }

  /** Records the start of the computation. */
  start(): void {
    this.#started = performance.now()
  }

  /**
   * Records the log-probabilities of the prompt tokens that follow each position of a chunk.
   * @param logits of the chunk's positions, `[chunk, vocabulary]`; those of the prompt's last position are ignored
   * @param first position of the chunk
   */
  scorePrompt(logits: Float32Array, first: number, chunk: number): void {
    const width = logits.length / chunk
    if (first === 0) this.#promptLogprobs.push({...this.#display(this.tokens[0] as number), logprob: null, top: null})
    for (let row = 0; row < chunk && first + row + 1 < this.#promptTokens; row++) {
      const next = this.tokens[first + row + 1] as number
      const scored = logits.subarray(row * width, (row + 1) * width)
      this.#promptLogprobs.push(this.#logprob(scored, next, this.#topLogprobs ?? 0))
    }
  }

  /**
   * Selects the next token.
   * @param logits of the last position, `[vocabulary]`
   * @returns events to emit now
   */
  next(logits: Float32Array): GenerateEvent[] {
    if (this.completionTokens > 0) return this.#choose(logits)
    this.#firstToken = performance.now()
    return [...this.#emitPrompt(), ...(this.#limit === 0 ? this.#finish('length') : this.#choose(logits))]
  }

  #choose(logits: Float32Array): GenerateEvent[] {
    const token = this.#sample(logits, this.tokens)
    const ends = this.#endTokens.has(token)
    if (this.#topLogprobs !== undefined && (!ends || this.scoresPrompt))
      this.#logprobs.push(this.#logprob(logits, token, this.#topLogprobs))
    if (ends) return this.#finish('stop')
    this.tokens.push(token)
    const events = this.#emit(this.#output.push(token))
    if (this.#output.stopped) return [...events, ...this.#finish('stop')]
    if (this.completionTokens >= this.#limit) return [...events, ...this.#finish('length')]
    return events
  }

  #finish(reason: GenerateSummary['finishReason']): GenerateEvent[] {
    const rest = this.#emit(this.#output.end(), true)
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

  #emitPrompt(): GenerateEvent[] {
    if (this.#echo === undefined) return []
    const text = this.#echo === true ? this.#tokenizer.decode(this.tokens) : this.#echo
    return [{type: 'prompt', text, ...(this.scoresPrompt ? {logprobs: this.#promptLogprobs} : {})}]
  }

  #emit(text: string, last = false): GenerateEvent[] {
    const logprobs = this.#logprobs
    if (text === '' && !(last && logprobs.length > 0)) return []
    this.#logprobs = []
    return [{type: 'text', text, ...(this.#topLogprobs === undefined ? {} : {logprobs})}]
  }

  #logprob(logits: Float32Array, token: number, count: number): TokenLogprob {
    const {logprob, top} = logProbabilities(logits, token, count)
    return {...this.#scored(token, logprob), top: top.map((other) => this.#scored(other.token, other.logprob))}
  }

  #scored(token: number, logprob: number): ScoredToken {
    return {...this.#display(token), logprob}
  }

  #display(token: number): Omit<ScoredToken, 'logprob'> {
    const bytes = this.#tokenizer.bytes(token)
    return {token: bytes.toString('utf8'), bytes: [...bytes]}
  }
}
