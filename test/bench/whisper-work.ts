/** The work of the Whisper benchmark. */

/** Length of the short clip, seconds. */
export const clipSeconds = 11
/** Tokens of the short clip: very fast speech. */
export const clipTokens = 219
/** Windows of 30 seconds in ten minutes. */
export const windowCount = 20
/** Tokens of such a window: usual speech. */
export const windowTokens = 71
