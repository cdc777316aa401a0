/** Joins the lines of a text and trims it: an empty line ends a subtitle, and a line break a table row. */
export const oneLine = (text: string): string => text.replace(/\s+/gu, ' ').trim()
