import {TemplateError} from './budget.js'
import {type Token, tokenize} from './lexer.js'

/** A token in an error message. */
export const shown = ({type, value}: Token): string =>
  type === 'end' ? 'the end of the template' : type.endsWith('_end') ? 'the end of the tag' : `'${value}'`

export type Cursor = ReturnType<typeof openTemplate>

/** Reads the tokens of a template one after another. @throws TemplateError */
export function openTemplate(template: string) {
  const tokens = tokenize(template)
  let at = 0
  const current = () => tokens[at] as Token
  const ahead = () => tokens[Math.min(at + 1, tokens.length - 1)] as Token
  const isOperator = (value: string) => current().type === 'operator' && current().value === value
  const isWord = (...words: string[]) => current().type === 'name' && words.includes(current().value)

  const fail = (reason: string, {line} = current()): never => {
    throw new TemplateError(`${reason} (line ${line})`)
  }
  const next = () => tokens[at++] as Token
  const skipOperator = (value: string) => isOperator(value) && next() !== undefined
  const skipWord = (word: string) => isWord(word) && next() !== undefined
  const expectOperator = (value: string) => {
    if (!skipOperator(value)) fail(`expected '${value}', found ${shown(current())}`)
  }
  const expectWord = (word: string) => {
    if (!skipWord(word)) fail(`expected '${word}', found ${shown(current())}`)
  }
  const expectName = (): string =>
    current().type === 'name' ? next().value : fail(`expected a name, found ${shown(current())}`)

  return {
    current,
    ahead,
    isOperator,
    isWord,
    fail,
    next,
    skipOperator,
    skipWord,
    expectOperator,
    expectWord,
    expectName,
  }
}
