import type {Segment, WordTiming} from '../model.js'
import {oneLine} from './one-line.js'

/** A subtitle block. */
export interface SubtitleBlock {
  startMs: number
  endMs: number
  lines: readonly string[]
}

export interface SubtitleShape {
  /** Maximum characters per line. */
  lineWidth: number
  maxLines: number
}

export const defaultSubtitleShape: SubtitleShape = {lineWidth: 42, maxLines: 2}

/** Minimum duration of a block, ms. */
const shortestMs = 1

/** Input of subtitles. Word timings are used only if they match the text, which may be refined. */
export type TimedText = Pick<Segment, 'text' | 'words' | 'startSec' | 'endSec'>

/** An unbreakable piece of text, with the space before it. */
interface Piece {
  text: string
  startMs: number
  endMs: number
}

/**
 * Splits a segment into blocks of lines, without losing text. The duration of a block follows from its word timings, or
 * from its share of the text.
 */
export function subtitleBlocks(segment: TimedText, shape: SubtitleShape): SubtitleBlock[] {
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

/** Fills lines; a piece longer than a line gets its own line. */
function wrap(pieces: readonly Piece[], lineWidth: number): Piece[][] {
  const lines: Piece[][] = []
  let width = 0
  for (const piece of pieces) {
    const line = lines.at(-1)
    if (line === undefined || width + characters(piece.text) > lineWidth) {
      lines.push([piece])
      width = characters(piece.text.trimStart())
    } else {
      line.push(piece)
      width += characters(piece.text)
    }
  }
  return lines
}

const characters = (text: string) => Array.from(text).length

/**
 * Matches an unbreakable piece: a character of a script without spaces with the punctuation that must stay with it, or
 * a word.
 */
const unspaced =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Myanmar}'
const unbroken = new RegExp(
  ` ?(?:[\\p{Ps}\\p{Pi}]*[${unspaced}][\\p{M}\\p{Lm}\\p{Pe}\\p{Pf}\\p{Po}]*|[^\\s${unspaced}]+)`,
  'gu',
)

function piecesOf({text, words, startSec, endSec}: TimedText): Piece[] {
  const plain = oneLine(text)
  if (words !== undefined && oneLine(words.map(({word}) => word).join('')) === plain)
    return words.filter(({word}) => word.trim() !== '').map(timedPiece)
  const lengthMs = 1000 * (endSec - startSec)
  const timeAt = (place: number) => 1000 * startSec + (lengthMs * place) / plain.length
  return Array.from(plain.matchAll(unbroken), ({0: piece, index}) => ({
    text: piece,
    startMs: timeAt(index),
    endMs: timeAt(index + piece.length),
  }))
}

const timedPiece = ({word, startSec, endSec}: WordTiming): Piece => ({
  text: word.replace(/\s+/gu, ' '),
  startMs: 1000 * startSec,
  endMs: 1000 * endSec,
})
