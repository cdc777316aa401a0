import {T} from './token.js'

/** Operators of other languages, what to write instead, and the token that takes their place. */
export const foreignOperators: readonly (readonly [text: string, hint: string, kind: number])[] = [
  ['===', 'Write is.', T.equal],
  ['!==', 'Write isnt.', T.notEqual],
  ['&&', 'Write and instead of &&.', T.and],
  ['||', 'Write or.', T.or],
  ['<>', 'Write isnt.', T.notEqual],
  ['**', 'Write std.math.pow(x, y).', T.star],
  ['^', 'Write std.math.pow(x, y).', T.star],
]
export const foreignStarts = new Uint8Array(128)
for (const [text] of foreignOperators) foreignStarts[text.charCodeAt(0)] = 1

/** Characters with a meaning in other languages, and what to write instead. */
export const foreignCharacters: ReadonlyMap<string, string> = new Map([
  ['&', 'Write and instead of &&.'],
  ['`', 'Write text in double quotes; f"{x}" contains the value of x.'],
  ['$', 'Operators of where have no $: write { n: { gt: 1 } }.'],
])
