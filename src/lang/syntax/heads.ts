import type {Cursor} from './cursor.js'
import {T} from './token.js'

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** The decorators that begin a declaration of the data language. */
export const knownDecorators = words('@table @index @search_index @vector_index @endpoint @test')

/** Retired decorators and their replacements. */
export const retired: Readonly<Record<string, string>> = {
  '@get': 'write http get "<path>" to T { ... }',
  '@post': 'write http post "<path>" to T { ... }',
  '@put': 'write http put "<path>" to T { ... }',
  '@delete': 'write http delete "<path>" to T { ... }',
  '@query': 'write @endpoint(kind: query)',
  '@mutation': 'write @endpoint(kind: mutation)',
  '@server': 'write @endpoint(kind: server)',
  '@component': 'user interfaces are outside the data language',
}

/** Declaration keywords of the full language that the data language does not support. */
export const foreignHeads = words(
  `import extern component routes fragment actor workflow activity agent state_machine partial url config environment
env migrate async trait impl const let state derived effect mount style view on`,
)

/** Decorators of the full language whose declarations are user interface, which is skipped with them. */
export const foreignDecorators = words('@loading')

/** Words that start statements of other languages, and what to write instead. */
export const foreignStatements: ReadonlyMap<string, string> = new Map([
  ['const', 'Write let; const declares constants outside functions.'],
  ['var', 'Write let, or let mut for a variable that is assigned later.'],
  ['def', 'Write fn, outside functions.'],
  ['function', 'Write fn, outside functions.'],
  ['try', 'There are no exceptions: write ? after a Result, or match.'],
  ['throw', 'There are no exceptions: return Error(...).'],
  ['raise', 'There are no exceptions: return Error(...).'],
  ['switch', 'Write match x { 1 => ..., _ => ... }.'],
  ['elif', 'Write else if.'],
  ['import', 'There are no imports: a program is one file.'],
  ['with', 'There is no with: nothing needs to be closed.'],
])

export const methods = words('get post put delete')

export const beginsDeclaration = (c: Cursor): boolean =>
  c.kind === T.decorator ||
  c.kind === T.fn ||
  c.kind === T.type ||
  c.kind === T.import ||
  c.kind === T.pub ||
  c.isContextual('http')
