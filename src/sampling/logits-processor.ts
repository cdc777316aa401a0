/**
 * Modifies the logits of one position, `[vocabulary]`, in place. `history` contains the tokens of the prompt and the
 * reply so far. Tokens with non-finite logits are never selected.
 */
export type LogitsProcessor = (logits: Float32Array, history: readonly number[]) => void
