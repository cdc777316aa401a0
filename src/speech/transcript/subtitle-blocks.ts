import type {Segment, WordTiming} from '../model/model.js'
import {oneLine} from './one-line.js'

/** A subtitle block. */
export interface SubtitleBlock {
  startMs: number
  endMs: number
  lines: readonly string[]
  /** The characters of the spoken word in one of the lines, if it is highlighted. */
  spoken?: {line: number; from: number; to: number}
}

export interface SubtitleShape {
  /** Maximum characters per line; default: 42. */
  lineWidth?: number | undefined
  /** Maximum lines per block; default: 2. */
  maxLines?: number | undefined
  /** Maximum words per block; default: no limit. */
  maxWords?: number | undefined
  /** Repeats a block for each of its words, with that word marked. */
  highlightWords?: boolean | undefined
}

/** Minimum duration of a block, ms. */
const minMs = 1

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
export function subtitleBlocks(
  segment: TimedText,
  {lineWidth = 42, maxLines = 2, maxWords = Infinity, highlightWords = false}: SubtitleShape = {},
): SubtitleBlock[] {
  const blocks = inGroups(piecesOf(segment), maxWords).flatMap((pieces) => inGroups(wrap(pieces, lineWidth), maxLines))
  return blocks.flatMap((lines) => (highlightWords ? highlighted(lines) : [blockOf(lines)]))
}

function inGroups<T>(items: readonly T[], size: number): T[][] {
  const groups: T[][] = []
  for (let at = 0; at < items.length; at += size) groups.push(items.slice(at, at + size))
  return groups
}

const textOf = (line: readonly Piece[]) =>
  line
    .map(({text}) => text)
    .join('')
    .trim()

function blockOf(lines: readonly Piece[][]): SubtitleBlock {
  const startMs = Math.round(lines[0]?.[0]?.startMs ?? 0)
  const endMs = Math.round(lines.at(-1)?.at(-1)?.endMs ?? 0)
  return {startMs, endMs: Math.max(startMs + minMs, endMs), lines: lines.map(textOf)}
}

/** A block per word, and between words a block without a mark, as in openai/whisper. */
function highlighted(pieces: readonly Piece[][]): SubtitleBlock[] {
  const {startMs: first, lines} = blockOf(pieces)
  const blocks: SubtitleBlock[] = []
  let endMs = first
  for (const [line, words] of pieces.entries()) {
    let to = 0
    for (const word of words) {
      const text = word.text.trim()
      const from = (lines[line] ?? '').indexOf(text, to)
      to = from + text.length
      const startMs = Math.max(Math.round(word.startMs), endMs)
      if (startMs > endMs) blocks.push({startMs: endMs, endMs: startMs, lines})
      endMs = Math.max(startMs + minMs, Math.round(word.endMs))
      blocks.push({startMs, endMs, lines, spoken: {line, from, to}})
    }
  }
  return blocks
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
