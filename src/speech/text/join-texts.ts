/** Joins texts; adds a space unless one of the texts has one at the boundary. */
export const joinTexts = (texts: readonly string[]): string =>
  texts.reduce((all, text) => (all === '' || /^\s/.test(text) || /\s$/.test(all) ? all + text : `${all} ${text}`), '')
