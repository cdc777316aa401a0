/** The source of a regular expression, with or without the flags u and v, that matches exactly this text. */
export const literalPattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
