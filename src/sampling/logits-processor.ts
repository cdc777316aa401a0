/**
 * Changes the logits of one position, `[vocabulary]`, in place; `history` is prompt and reply so far. A token whose
 * logit it leaves not finite is never chosen.
 */
export type LogitsProcessor = (logits: Float32Array, history: readonly number[]) => void
