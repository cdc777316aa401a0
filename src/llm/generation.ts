import type {Steps} from '../grammar/index.js'
import {
  createSampler,
  createTopSampler,
  logProbabilities,
  type ReplyRules,
  repetitionPenalty,
  replyRules,
  type Sampler,
  type TopSampler,
  topLogProbabilities,
} from '../sampling/index.js'
import {OutputText, type Tokenizer} from '../text/index.js'
import type {Prediction} from './decoder.js'
import type {ReplyConstraint} from './reply-constraint.js'
import type {GenerateEvent, GenerateSummary, PromptToken, ScoredToken, TokenLogprob, TokenRequest} from './request.js'

/** The properties of a model that a generation needs. */
export interface GenerationModel {
  tokenizer: Tokenizer
  contextLength: number
  endTokens: ReadonlySet<number>
  /** Number of most likely tokens that each prediction has. */
  topCount: number
  /** What the model demands of each reply. */
  rules: ReplyRules
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
  /** Undefined if the request needs the logits of all tokens. */
  readonly #sampleTop: TopSampler | undefined
  readonly #output: OutputText
  /** What the format of the request allows; undefined without a format. */
  readonly #constraint: ReplyConstraint | undefined
  /** Text emitted so far; only with a format. */
  #text = ''
  readonly #topLogprobs: number | undefined
  readonly #echo: TokenRequest['echo']
  readonly #limit: number
  readonly #arrived = performance.now()
  #started = 0
  #cachedTokens = 0
  #firstToken = 0
  #finishReason: GenerateSummary['finishReason'] | undefined
  /** Log-probabilities of tokens whose text has not been emitted yet, and where it begins in the output. */
  #logprobs: {start: number; scored: TokenLogprob}[] = []
  /** Where the text of each token of the reply begins in the output. */
  readonly #starts: number[] = []
  /** Log-probabilities of the prompt, as far as it has been scored. */
  readonly #promptLogprobs: PromptToken[] = []

  constructor(
    {tokenizer, contextLength: modelContext, endTokens, topCount, rules}: GenerationModel,
    prompt: readonly number[],
    {sampling, stop, maxTokens, topLogprobs, echo, marks, contextLength = modelContext}: TokenRequest,
    constraint?: ReplyConstraint,
  ) {
    this.tokens = [...prompt]
    this.#promptTokens = prompt.length
    this.#tokenizer = tokenizer
    this.#endTokens = endTokens
    this.#output = new OutputText(tokenizer, prompt, stop, {
      isExact: constraint !== undefined,
      marks: new Map(marks),
    })
    this.#constraint = constraint
    this.#topLogprobs = topLogprobs
    this.#echo = echo
    const fewSuffice = !this.scoresPrompt && constraint === undefined && (topLogprobs ?? 0) <= topCount
    this.#limit = Math.min(maxTokens ?? Number.POSITIVE_INFINITY, contextLength - prompt.length)
    const processors = [
      ...(sampling.repeatPenalty === undefined ? repetitionPenalty(rules) : []),
      ...replyRules(rules, {promptTokens: prompt.length, limit: this.#limit, endTokens}),
    ]
    this.#sample = createSampler(sampling, processors)
    this.#sampleTop = fewSuffice && processors.length === 0 ? createTopSampler(sampling, topCount) : undefined
  }

  get finished(): boolean {
    return this.#finishReason !== undefined
  }

  get completionTokens(): number {
    return this.tokens.length - this.#promptTokens
  }

  /** Maximum number of tokens that are still to be generated. */
  get remaining(): number {
    return this.#limit - this.completionTokens
  }

  /** Whether the logits of every position of the prompt are needed, not only of the last one. */
  get scoresPrompt(): boolean {
    return this.#echo !== undefined && this.#topLogprobs !== undefined
  }

  /** Whether the logits of all tokens are needed, not only of the most likely ones. */
  get needsLogits(): boolean {
    return this.#sampleTop === undefined
  }

  /**
   * Records the start of the computation.
   * @param cachedTokens tokens of the prompt that need not be computed
   */
  start(cachedTokens = 0): void {
    this.#started = performance.now()
    this.#cachedTokens = cachedTokens
  }

  /**
   * Records the log-probabilities of the prompt tokens that follow each position of a chunk.
   * @param predictions of the chunk's positions; that of the prompt's last position is ignored
   * @param first position of the chunk
   */
  scorePrompt(predictions: readonly Prediction[], first: number): void {
    if (first === 0) this.#promptLogprobs.push({...this.#display(this.tokens[0] as number), logprob: null, top: null})
    for (const [row, {logits}] of predictions.entries()) {
      const position = first + row + 1
      if (position >= this.#promptTokens) break
      const next = this.tokens[position] as number
      this.#promptLogprobs.push(this.#scoredWith(next, logProbabilities(logits, next, this.#topLogprobs ?? 0)))
    }
  }

  /** The tokens of a draft up to the first that the format refuses. @throws grammar_limit */
  allowedStart(draft: readonly number[]): readonly number[] {
    return this.#constraint === undefined ? draft : this.#constraint.allowedStart(draft)
  }

  /** Computes which tokens the format allows next. @throws grammar_limit, grammar_unsatisfiable */
  *prepare(): Steps<void> {
    if (this.#constraint !== undefined && this.#limit > 0) yield* this.#constraint.prepare()
  }

  /**
   * Selects the next token after `prepare`, and adds the tokens after it that the format forces.
   * @param prediction of the last position; with all logits if `needsLogits`
   * @returns events to emit now
   */
  next(prediction: Prediction): GenerateEvent[] {
    if (this.completionTokens > 0) return this.#choose(prediction)
    this.#firstToken = performance.now()
    return [...this.#emitPrompt(), ...(this.#limit === 0 ? this.#finish('length') : this.#choose(prediction))]
  }

  #choose(prediction: Prediction): GenerateEvent[] {
    if (this.#constraint?.isComplete === true) return this.#finish('stop')
    // Each token needs a prediction of its own if its log-probability is returned.
    const isScored = this.#topLogprobs !== undefined
    const [first, ...others] = this.#constraint?.forced ?? []
    if (first !== undefined && !isScored) return this.#append([first, ...others])
    const token = first ?? this.#select(prediction)
    const ends = this.#endTokens.has(token)
    if (isScored && (!ends || this.scoresPrompt)) this.#score(token, prediction)
    if (ends) return this.#finish('stop', token)
    const events = this.#append([token])
    if (this.finished || isScored) return events
    return [...events, ...this.#append(this.#constraint?.forced ?? [])]
  }

  #select({top, logits}: Prediction): number {
    if (this.#sampleTop !== undefined) return this.#sampleTop(top)
    return this.#sample(logits, this.tokens, this.#constraint?.allowed, top)
  }

  #score(token: number, {top, logits}: Prediction): void {
    const count = this.#topLogprobs as number
    const scored = this.needsLogits ? logProbabilities(logits, token, count) : topLogProbabilities(top, token, count)
    this.#logprobs.push({start: this.#output.length, scored: this.#scoredWith(token, scored)})
  }

  #append(tokens: readonly number[]): GenerateEvent[] {
    let text = ''
    for (const token of tokens) {
      this.#constraint?.accept(token)
      this.tokens.push(token)
      this.#starts.push(this.#output.length)
      text += this.#output.push(token)
      const hasEnded = this.#output.stopped || this.#constraint?.isComplete === true
      if (hasEnded || this.completionTokens >= this.#limit)
        return [...this.#emit(text), ...this.#finish(hasEnded ? 'stop' : 'length')]
    }
    return this.#emit(text)
  }

  #finish(reason: GenerateSummary['finishReason'], endToken?: number): GenerateEvent[] {
    const rest = this.#emit(this.#output.end(endToken), true)
    this.#finishReason = this.#output.stopped ? this.#reasonOfStop() : reason
    const now = performance.now()
    const {stopString} = this.#output
    const summary: GenerateSummary = {
      finishReason: this.#finishReason,
      ...(stopString === undefined ? {} : {stopString}),
      promptTokens: this.#promptTokens,
      cachedTokens: this.#cachedTokens,
      completionTokens: this.completionTokens,
      tokens: this.#tokensOfText(),
      queueMs: this.#started - this.#arrived,
      prefillMs: this.#firstToken - this.#started,
      decodeMs: now - this.#firstToken,
    }
    return [...rest, {type: 'done', ...summary}]
  }

  /** A stop string truncates a reply that does not match its format yet. */
  #reasonOfStop(): GenerateSummary['finishReason'] {
    return this.#constraint === undefined || this.#constraint.matches(this.#text) ? 'stop' : 'length'
  }

  /** The tokens without those of a stop string. */
  #tokensOfText(): number[] {
    const {stopped, released} = this.#output
    if (!stopped) return this.tokens
    return this.tokens.slice(0, this.#promptTokens + this.#starts.filter((start) => start < released).length)
  }

  #emitPrompt(): GenerateEvent[] {
    if (this.#echo === undefined) return []
    const text = this.#echo === true ? this.#tokenizer.decode(this.tokens) : this.#echo
    const counts = {promptTokens: this.#promptTokens, cachedTokens: this.#cachedTokens}
    return [{type: 'prompt', text, ...counts, ...(this.scoresPrompt ? {logprobs: this.#promptLogprobs} : {})}]
  }

  #emit(text: string, last = false): GenerateEvent[] {
    const {stopped, released} = this.#output
    if (this.#constraint !== undefined) this.#text += text
    const isDue = ({start}: {start: number}) => start < released || (last && !stopped)
    const logprobs = this.#logprobs.filter(isDue).map(({scored}) => scored)
    if (text === '' && !(last && logprobs.length > 0)) return []
    this.#logprobs = this.#logprobs.filter((each) => !isDue(each))
    const tokens = this.completionTokens
    return [{type: 'text', text, tokens, ...(this.#topLogprobs === undefined ? {} : {logprobs})}]
  }

  #scoredWith(token: number, {logprob, top}: ReturnType<typeof logProbabilities>): TokenLogprob {
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
