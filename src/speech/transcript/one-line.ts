/** Text without lines of its own and without blanks around it: subtitles end at an empty line, tables at any. */
export const oneLine = (text: string): string => text.replace(/\s+/gu, ' ').trim()
