/** Truncates a text to `longest` characters, with an ellipsis if it was cut. */
export const excerpt = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1)}…`
