/** The beginning of a text, with a mark where it goes on; so many characters at most. */
export const excerpt = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1)}…`
