import {fencedBlocks} from '../fences.js'

/**
 * In which form a model gives a program: `raw_code_only` is the program and nothing else, `fenced_transport` has it in
 * the one fenced block of the answer, whatever is said around that.
 */
export const surfaceModes = ['raw_code_only', 'fenced_transport'] as const
export type SurfaceMode = (typeof surfaceModes)[number]

/** The program of an answer, ended by one line end; or why the answer does not have the form that was asked for. */
export type Surface = {code: string} | {reason: string}

export function readSurface(answer: string, mode: SurfaceMode): Surface {
  const text = answer.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  return mode === 'raw_code_only' ? readRaw(text) : readFenced(text)
}

function readRaw(text: string): Surface {
  if (fencedBlocks(text).length > 0) return {reason: 'the answer has a code fence'}
  const stray = strayLine(text)
  if (stray !== undefined)
    return {reason: `line ${stray.number} is no part of a program: ${JSON.stringify(stray.text.slice(0, 80))}`}
  return ended(text)
}

function readFenced(text: string): Surface {
  const [block, ...more] = fencedBlocks(text)
  if (block === undefined) return {reason: 'the answer has no fenced block'}
  if (more.length > 0) return {reason: `the answer has ${more.length + 1} fenced blocks`}
  return block.isClosed ? ended(block.content) : {reason: 'the fenced block has no end'}
}

const ended = (text: string): Surface =>
  text.trim() === '' ? {reason: 'the program is empty'} : {code: `${text.replace(/^\n+/, '').trimEnd()}\n`}

/** What a line outside of all brackets may begin with: a declaration, a comment, or the rest of what goes before. */
const declares = /^(?:@[a-z]|(?:fn|pub|type|http|to|on|unique|get|post|put|delete)\b|\/\/|#|[|={}()[\],"'])/

/** The first line outside of all brackets that is no part of a program, such as a sentence. */
function strayLine(text: string): {number: number; text: string} | undefined {
  let depth = 0
  for (const [i, line] of text.split('\n').entries()) {
    const bare = line.trim()
    if (depth === 0 && bare !== '' && !declares.test(bare)) return {number: i + 1, text: bare}
    depth = Math.max(0, depth + opened(line))
  }
  return undefined
}

/** Strings and comments, in which brackets mean nothing. A string ends with its line at the latest. */
const unread = /"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|\/\/.*|#.*/g

/** How many more brackets a line opens than it closes. */
function opened(line: string): number {
  const code = line.replaceAll(unread, '')
  return count(code, /[([{]/g) - count(code, /[)\]}]/g)
}

const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length
