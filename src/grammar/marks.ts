/**
 * Marks stand for special tokens in grammars and in the texts of replies. A mark is a number; its character is a lone surrogate
 * and its bytes are those of that code point, which are not valid UTF-8. So no text and no pattern contains a mark.
 */
export const mostMarks = 0x800

const first = 0xd800

export const characterOfMark = (mark: number): string => String.fromCharCode(first + mark)

/** The mark of a character; undefined if it is none. */
export function markOf(character: string): number | undefined {
  const mark = character.charCodeAt(0) - first
  return character.length === 1 && mark >= 0 && mark < mostMarks ? mark : undefined
}

export function bytesOfMark(mark: number): Uint8Array {
  const point = first + mark
  return Uint8Array.of(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f))
}

/** The bytes of a text in which characters stand for marks. */
export function bytesOfMarked(text: string): Uint8Array {
  const parts = text.split(/([\ud800-\udfff])/u).map((part) => {
    const mark = markOf(part)
    return mark === undefined ? Buffer.from(part) : bytesOfMark(mark)
  })
  return Buffer.concat(parts)
}
