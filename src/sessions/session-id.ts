const hex = (value: number) => Math.floor(value).toString(16)

/**
 * `sess_<Unix seconds>_<counter>_<4 random digits>`, all hexadecimal. The random digits distinguish processes that
 * start in the same second.
 * @param random in [0, 1)
 */
export const sessionId = (nowMs: number, counter: number, random: number): string =>
  `sess_${hex(nowMs / 1000)}_${hex(counter)}_${hex(random * 0x10000).padStart(4, '0')}`

/** True if a text has the form of an id, with or without random digits, and is therefore safe as a file name. */
export const isSessionId = (text: string): boolean => /^sess_[0-9a-f]{1,16}_[0-9a-f]{1,16}(?:_[0-9a-f]{4})?$/.test(text)
