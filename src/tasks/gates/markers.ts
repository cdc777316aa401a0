import {basename} from 'node:path'
import {comparablePath} from './paths.js'

/** A word that indicates unfinished work, and the text around it. */
export interface OpenMarker {
  marker: string
  clause: string
}

/**
 * Finds words for unfinished work in a summary, unless the text says directly before that they were removed: "removed
 * the last TODO", "no stubs or placeholders left". Names of the given files do not count.
 */
export function openMarkers(summary: string, paths: readonly string[]): OpenMarker[] {
  const names = new Set([...paths, ...paths.map((path) => basename(path))].filter((name) => /[./]/.test(name)))
  const found: OpenMarker[] = []
  let excusedUntil = -1
  for (const {0: marker, index} of summary.matchAll(markers)) {
    if (names.has(comparablePath(chunkAround(summary, index, index + marker.length)))) continue
    const before = summary.slice(Math.max(0, index - reach), index)
    const isExcused =
      removal.test(before) ||
      (excusedUntil >= 0 && index - excusedUntil <= reach && listed.test(summary.slice(excusedUntil, index))) ||
      summary.startsWith('-free', index + marker.length)
    if (isExcused) excusedUntil = index + marker.length
    else found.push({marker, clause: clauseAround(summary, index, index + marker.length)})
  }
  return found
}

const markers =
  /(?<![\p{L}\p{N}_])(?:todos?|tbds?|placeholders?|stubs?|not\s{1,8}(?:yet\s{1,8})?implemented|coming\s{1,8}soon)(?![\p{L}\p{N}_])/giu

/** How far before a marker a verb of removal is looked for, characters. */
const reach = 80

const removals = [
  'remov(?:es?|ed|ing)',
  'delet(?:es?|ed|ing)',
  'eras(?:es?|ed|ing)',
  'resolv(?:es?|ed|ing)',
  'eliminat(?:es?|ed|ing)',
  'replac(?:es?|ed|ing)',
  'drop(?:s|ped|ping)?',
  'strip(?:s|ped|ping)?',
  'clear(?:s|ed|ing)',
  'fix(?:es|ed|ing)?',
  'address(?:es|ed|ing)?',
  'fill(?:s|ed|ing)? in',
  'clean(?:s|ed|ing)? up',
  'g[eo]t(?:s|ting)? rid of',
  'free of',
  'instead of',
  'not an?',
  'no(?: longer| more)?',
  'without',
  'zero',
].join('|')

const fillers =
  'an?|the|all|any|every|each|both|its|their|his|her|our|my|this|that|these|those|of|last|first|final|only|few|single|more|other|old|former|previous|existing|remaining|leftover|obsolete|temporary'

/** Words that introduce what replaced something: "replaced the parser with a stub" says that a stub exists. */
const introducers =
  'with|by|to|into|in|as|for|on|at|using|via|but|and|or|so|then|except|leaving|left|leaves|adding|added|only'

const gap = '[ \\t"\'`*(]{1,4}'

/** A verb of removal directly before a marker: between them are only fillers and at most one other word. */
const removal = new RegExp(
  `(?<![\\p{L}\\p{N}_-])(?:${removals})${gap}(?:(?:${fillers})${gap}){0,4}(?:(?!(?:${introducers})${gap})[\\p{L}\\p{N}_-]{1,24}${gap})?$`,
  'iu',
)

/** The text between a marker and the next one of the same list. */
const listed = new RegExp(
  `^["'\`*)]{0,4}(?:(?: comments?| markers?| code)?)(?:,| and| or| nor|/|, and|, or)${gap}(?:(?:${fillers})${gap}){0,4}$|^["'\`*)]{0,4}/$`,
  'iu',
)

/** The text without white space around a position, without punctuation at its ends. */
function chunkAround(text: string, start: number, end: number): string {
  const before = /[^\s"'`()[\]<>,;]*$/.exec(text.slice(Math.max(0, start - 256), start))?.[0] ?? ''
  const after = /^[^\s"'`()[\]<>,;]*/.exec(text.slice(end, end + 256))?.[0] ?? ''
  return `${before}${text.slice(start, end)}${after}`.replace(/[.:!?]$/, '')
}

/** At most 40 characters before a position and 20 after it, of the same line. */
function clauseAround(text: string, start: number, end: number): string {
  const before =
    text
      .slice(Math.max(0, start - 40), start)
      .split('\n')
      .at(-1) ?? ''
  const after = text.slice(end, end + 20).split('\n')[0] ?? ''
  return `${before}${text.slice(start, end)}${after}`.trim()
}
