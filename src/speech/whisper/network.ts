/** The two halves of a Whisper, as the decoding loop sees them. */
export interface WhisperNetwork {
  /** Whether its windows give cross-attention. */
  readonly aligns: boolean
  /** Encodes one window: log-mel `[bins, frames]`, row-major. */
  encode(mel: Float32Array, frames: number): Promise<AudioContext>
  release(): Promise<void>
}

/** One encoded window. */
export interface AudioContext {
  /** Positions of the encoder's output. */
  readonly positions: number
  /** A new empty decoding over this window. */
  decode(): DecoderRun
  /**
   * Cross-attention of the alignment heads while the decoder reads `tokens`. Undefined where the graphs do not give it.
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

/** Hypotheses of equal length, one per row. Begins with one row and no token. */
export interface DecoderRun {
  readonly rows: number
  /** Tokens read so far, per row. */
  readonly length: number
  /**
   * Reads tokens in one go; only while there is one row and nothing was read.
   * @returns logits `[at.length, vocabulary]` of the positions `at`
   */
  prefill(tokens: readonly number[], at: readonly number[]): Promise<Float32Array>
  /** Reads one token per row. Gives logits `[rows, vocabulary]`. */
  step(tokens: readonly number[]): Promise<Float32Array>
  /** Row i continues what was row `sources[i]`; the number of rows may change. */
  select(sources: readonly number[]): void
}
