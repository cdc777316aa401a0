import {checkProgram, type Program} from '../../lang/index.js'
import type {Tokens} from '../tokens.js'

const closers: Readonly<Record<string, string>> = {'(': ')', '[': ']', '{': '}'}

/** Where the next declaration begins, at the start of a line. */
const nextDeclaration = /^(?:@\w|(?:pub|fn|type|http)\b)/m

/**
 * The program around a place where somebody writes. What is behind the place in its declaration is left out, and what
 * is open there is closed, so that a brace that is still to come does not hide the rest of the program.
 * `tokens` are those before the place.
 */
export function programAround(text: string, offset: number, tokens: Tokens): Program {
  let closed = text.slice(0, offset)
  for (let open = tokens.around(tokens.count); open !== -1; open = tokens.around(open))
    closed += closers[tokens.text(open)]
  const line = text.indexOf('\n', offset)
  const below = line === -1 ? '' : text.slice(line + 1)
  const next = below.search(nextDeclaration)
  return checkProgram(next === -1 ? closed : `${closed}\n${below.slice(next)}`, {symbols: true})
}
