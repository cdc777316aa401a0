import type {TokenLogits} from '../../sampling/index.js'

/** Encoder and decoder of a Whisper model, independent of the graphs that implement them. */
export interface WhisperNetwork {
  /** True if its windows support `align`. */
  readonly aligns: boolean
  /** True if it encodes windows that are shorter than those of the training. */
  readonly anyLength: boolean
  /** Encodes one window: log-mel `[bins, frames]`, row-major. */
  encode(mel: Float32Array, frames: number): Promise<AudioContext>
  /**
   * Combines windows of equal length for one decoding, whose rows are one hypothesis per window. `prefill` returns the
   * logits of all windows at the first position, then at the next one.
   */
  together?(windows: readonly AudioContext[]): AudioContext
  /** Memory of each window of `together`, bytes. */
  readonly batchBytes?: number
  release(): Promise<void>
}

/** One encoded window. */
export interface AudioContext {
  /** Number of positions of the encoder's output. */
  readonly positions: number
  /** Starts an empty decoding of this window; by default, each step returns all logits. */
  decode(options?: DecoderRunOptions): DecoderRun
  /**
   * Cross-attention of the alignment heads over `tokens`. Undefined if the graphs do not output it.
   */
  align?(tokens: readonly number[]): Promise<CrossAttention>
}

export interface CrossAttention {
  heads: number
  tokens: number
  positions: number
  /** `[heads, tokens, positions]`, after the softmax over positions. */
  weights: Float32Array
}

export interface DecoderRunOptions {
  /** Returns the logits of all tokens in each step, for sampling. */
  allLogits: boolean
  /** Number of the most likely tokens of each row that must be exact; 1 by default. */
  exact?: number
  /** Tokens that are never selected; their logits are not part of a step's log-sum-exp. */
  suppressed: readonly number[]
}

/** Hypotheses of equal length, one per row. Starts with one empty row. */
export interface DecoderRun {
  readonly rows: number
  /** Number of times that all logits were computed from the checkpoint, because a choice was not certain. */
  readonly wholeHeads: number
  /** Number of tokens per row. */
  readonly length: number
  /**
   * Processes the prompt; only valid for a single empty row.
   * @param wanted tokens whose logits must be exact
   * @returns the logits of all tokens at the positions `at`
   */
  prefill(tokens: readonly number[], at: readonly number[], wanted?: readonly number[]): Promise<TokenLogits[]>
  /**
   * Appends one token per row.
   * @param wanted tokens of each row whose logits must be known
   * @returns the logits of each row, valid until the next step
   */
  step(tokens: readonly number[], wanted?: readonly (readonly number[])[]): Promise<TokenLogits[]>
  /** Makes row i continue the previous row `sources[i]`; the number of rows may change. */
  select(sources: readonly number[]): void
}
