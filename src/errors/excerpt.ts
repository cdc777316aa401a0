/** Truncates a text to `maxLength` characters, with an ellipsis if it was cut. */
export const excerpt = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`
