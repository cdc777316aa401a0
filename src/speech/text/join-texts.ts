/** Joins texts; adds a space unless one of the texts has one at the boundary. */
export const joinTexts = (texts: readonly string[]): string =>
  texts.map((text, i) => (/\S$/.test(texts[i - 1] ?? '') && !/^\s/.test(text) ? ` ${text}` : text)).join('')
