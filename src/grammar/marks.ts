/**
 * Marks stand for special tokens in grammars and in the texts of replies. A mark is a number; its character is a lone surrogate,
 * and its bytes never occur in UTF-8. So no text and no pattern contains a mark, and tokens with such bytes are never text.
 */
export const maxMarks = 0x800

const first = 0xd800

export const characterOfMark = (mark: number): string => String.fromCharCode(first + mark)

/** The mark of a character; undefined if it is none. */
export function markOf(character: string): number | undefined {
  const mark = character.charCodeAt(0) - first
  return character.length === 1 && mark >= 0 && mark < maxMarks ? mark : undefined
}

export function bytesOfMark(mark: number): Uint8Array {
  const digits = [...String(mark).padStart(4, '0')].map((digit) => firstUnused + Number(digit))
  return Uint8Array.of(0xff, ...digits)
}

/** The bytes from this one on occur in no character. */
const firstUnused = 0xf5

/** Whether bytes could be part of a mark, and thus of no text. */
export const hasBytesOfMarks = (bytes: Uint8Array): boolean => bytes.some((byte) => byte >= firstUnused)

/** The bytes of a text in which characters stand for marks. */
export function bytesOfMarked(text: string): Uint8Array {
  const parts = text.split(/([\ud800-\udfff])/u).map((part) => {
    const mark = markOf(part)
    return mark === undefined ? Buffer.from(part) : bytesOfMark(mark)
  })
  return Buffer.concat(parts)
}
