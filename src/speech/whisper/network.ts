/** Encoder and decoder of a Whisper model, independent of the graphs that implement them. */
export interface WhisperNetwork {
  /** True if its windows support `align`. */
  readonly aligns: boolean
  /** True if it encodes windows that are shorter than those of the training. */
  readonly anyLength: boolean
  /** Encodes one window: log-mel `[bins, frames]`, row-major. */
  encode(mel: Float32Array, frames: number): Promise<AudioContext>
  release(): Promise<void>
}

/** One encoded window. */
export interface AudioContext {
  /** Number of positions of the encoder's output. */
  readonly positions: number
  /** Starts an empty decoding of this window. */
  decode(): DecoderRun
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

/** Hypotheses of equal length, one per row. Starts with one empty row. */
export interface DecoderRun {
  readonly rows: number
  /** Number of tokens per row. */
  readonly length: number
  /**
   * Processes the prompt; only valid for a single empty row.
   * @returns logits `[at.length, vocabulary]` of the positions `at`
   */
  prefill(tokens: readonly number[], at: readonly number[]): Promise<Float32Array>
  /** Appends one token per row; returns logits `[rows, vocabulary]`. */
  step(tokens: readonly number[]): Promise<Float32Array>
  /** Makes row i continue the previous row `sources[i]`; the number of rows may change. */
  select(sources: readonly number[]): void
}
