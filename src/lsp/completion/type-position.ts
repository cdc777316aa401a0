import type {Tokens} from '../tokens.js'

/** Whether token `i` is, or would be, the start of a type. */
export function isTypePosition(tokens: Tokens, i: number): boolean {
  const open = tokens.around(i)
  const before = tokens.text(i - 1)
  switch (before) {
    case '->':
      return true
    case 'to':
      return tokens.text(i - 2) === ')' || tokens.is(i - 2, 'string')
    case ':':
      return isAnnotation(tokens, i - 1, open)
    case '[':
    case '(':
    case ',':
      return isInType(tokens, open)
    default:
      return false
  }
}

/** Whether a colon precedes a type (of a parameter, field or variable) and not the value of an object entry. */
function isAnnotation(tokens: Tokens, colon: number, open: number): boolean {
  const bracket = tokens.text(open)
  if (bracket === '(') return tokens.text(open - 1) !== '@endpoint'
  if (bracket === '{' && holdsFields(tokens, open)) return true
  const beforeName = tokens.text(colon - 2)
  return tokens.is(colon - 1, 'word') && (beforeName === 'let' || beforeName === 'mut')
}

/** Whether the brackets are those of `List[…]`, `fn(…)` or a tuple type. */
function isInType(tokens: Tokens, open: number): boolean {
  const isTuple = tokens.text(open) === '(' && !tokens.is(open - 1, 'word')
  const isNamed = tokens.text(open) === '[' || tokens.text(open - 1) === 'fn'
  if (open === -1 || !(isTuple || isNamed)) return false
  return isTypePosition(tokens, isTuple ? open : open - 1)
}

/** Whether the braces contain fields: those of `type Name {…}` or of a variant. */
export const holdsFields = (tokens: Tokens, brace: number): boolean =>
  tokens.is(brace - 1, 'word') && (tokens.text(brace - 2) === 'type' || isVariant(tokens, brace))

/** Whether the parentheses declare names: parameters or the fields of a variant. */
export const holdsParams = (tokens: Tokens, open: number): boolean =>
  tokens.text(open - 1) === 'fn' ||
  tokens.text(open - 2) === 'fn' ||
  (tokens.is(open - 1, 'string') && tokens.text(open - 3) === 'http') ||
  isVariant(tokens, open)

/** Whether this is a variant: outside all brackets, only declarations are possible. */
const isVariant = (tokens: Tokens, open: number) =>
  tokens.around(open) === -1 && (tokens.text(open - 2) === '|' || tokens.text(open - 2) === '=')
