import type {Segment, WordTiming} from '../model.js'

/** What is shown at once. */
export interface SubtitleBlock {
  startMs: number
  endMs: number
  lines: readonly string[]
}

export interface SubtitleShape {
  /** Most characters of a line. */
  lineWidth: number
  maxLines: number
}

export const defaultSubtitleShape: SubtitleShape = {lineWidth: 42, maxLines: 2}

/** Nothing is shown for a shorter time, ms. */
const shortestMs = 1

/** A piece of text that is not broken, with the blank before it. */
interface Piece {
  text: string
  startMs: number
  endMs: number
}

/**
 * The blocks of a segment: its text in lines, and where it has too many lines, in several blocks one after the other.
 * No text is lost. Blocks are as long as their words, where those are timed, or as their share of the text.
 */
export function subtitleBlocks(segment: Segment, shape: SubtitleShape): SubtitleBlock[] {
  const pieces = piecesOf(segment)
  const blocks: {pieces: Piece[]; lines: string[]}[] = []
  for (const line of wrap(pieces, shape.lineWidth)) {
    const block = blocks.at(-1)
    const text = line
      .map((piece) => piece.text)
      .join('')
      .trim()
    if (block === undefined || block.lines.length === shape.maxLines) blocks.push({pieces: [...line], lines: [text]})
    else {
      block.pieces.push(...line)
      block.lines.push(text)
    }
  }
  return blocks.map(({pieces: shown, lines}) => {
    const startMs = Math.round(shown[0]?.startMs ?? 0)
    return {startMs, endMs: Math.max(startMs + shortestMs, Math.round(shown.at(-1)?.endMs ?? 0)), lines}
  })
}

/** Lines as long as they may be; a piece that is longer than a line stands alone. */
function wrap(pieces: readonly Piece[], lineWidth: number): Piece[][] {
  const lines: Piece[][] = []
  let width = 0
  for (const piece of pieces) {
    const line = lines.at(-1)
    if (line === undefined || width + piece.text.length > lineWidth) {
      lines.push([piece])
      width = piece.text.trimStart().length
    } else {
      line.push(piece)
      width += piece.text.length
    }
  }
  return lines
}

/** Scripts that are broken between any two characters. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Myanmar}]/u

function piecesOf({text, words, startSec, endSec}: Segment): Piece[] {
  const timed = words !== undefined && joined(words) === joinedText(text)
  if (timed) return words.filter(({word}) => word.trim() !== '').map(timedPiece)
  const trimmed = text.trim()
  const texts = unspaced.test(trimmed)
    ? Array.from(trimmed.matchAll(/\s*(?:[\p{L}\p{M}\p{N}]|[^\p{L}\s])[\p{P}]*/gu), ([piece]) => piece)
    : Array.from(trimmed.matchAll(/\s*\S+/gu), ([piece]) => piece)
  const total = Math.max(1, trimmed.length)
  const lengthMs = 1000 * (endSec - startSec)
  let at = 0
  return texts.map((piece) => {
    const startMs = 1000 * startSec + (lengthMs * at) / total
    at += piece.length
    return {text: piece, startMs, endMs: 1000 * startSec + (lengthMs * at) / total}
  })
}

const timedPiece = ({word, startSec, endSec}: WordTiming): Piece => ({
  text: word,
  startMs: 1000 * startSec,
  endMs: 1000 * endSec,
})

/** Words are used only where they are the words of the text: refinement may have changed it. */
const joined = (words: readonly WordTiming[]) => joinedText(words.map(({word}) => word).join(''))
const joinedText = (text: string) => text.replace(/\s+/gu, ' ').trim()
