import {checkProgram, type Program} from '../../lang/index.js'
import type {Tokens} from '../tokens.js'

const closers: Readonly<Record<string, string>> = {'(': ')', '[': ']', '{': '}'}

/** The start of the next declaration, at the start of a line. */
const nextDeclaration = /^(?:@\w|(?:pub|fn|type|http)\b)/m

/**
 * The program around the cursor. The rest of the current declaration is omitted, and open brackets are closed, so that
 * a brace that is not typed yet does not hide the rest of the program.
 * `tokens` are those before the cursor.
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
