import {writeSpokenNumbers} from '../../speech/index.js'
import {tokensOf} from './intent.js'

/** An operation that a sentence can call by its name or title. */
export interface SpokenOperation {
  /** `submit_task` */
  readonly name: string
  /** The words of its names, from `spokenName`. */
  readonly names: readonly (readonly string[])[]
  /** True if it changes nothing, so that it needs no confirmation. */
  readonly isRead: boolean
  /** The member that the rest of the sentence fills; undefined if the operation needs no input. */
  readonly argument: {readonly name: string; readonly type: 'integer' | 'string'} | undefined
}

/** A call of an operation. */
export interface SpokenCall {
  operation: SpokenOperation
  input: Readonly<Record<string, string | number>>
  /** 0 to 1. */
  confidence: number
}

/** Words that change nothing about what a sentence asks for. */
const fillers = ['please', 'the', 'a', 'an', 'me', 'my', 'all']

interface Word {
  token: string
  /** Position after it in the sentence. */
  end: number
}

/** The words by which a title or a name such as `submit_task` is called. */
export const spokenName = (name: string): string[] =>
  tokensOf(name.replaceAll('_', ' ')).filter((token) => !fillers.includes(token))

/**
 * Finds the operation that a sentence names: the words of its name or title, apart from articles, and after them the
 * argument. The longest name wins.
 */
export function findSpokenCall(transcript: string, operations: readonly SpokenOperation[]): SpokenCall | undefined {
  const words = wordsOf(transcript)
  let found: {call: SpokenCall; length: number} | undefined
  for (const operation of operations)
    for (const name of operation.names) {
      if (name.length <= (found?.length ?? 0)) continue
      const call = callOf(transcript, words, name, operation)
      if (call !== undefined) found = {call, length: name.length}
    }
  return found?.call
}

function callOf(
  transcript: string,
  words: readonly Word[],
  name: readonly string[],
  operation: SpokenOperation,
): SpokenCall | undefined {
  if (!name.every((token, i) => words[i]?.token === token)) return undefined
  const {argument} = operation
  if (argument === undefined) return words.length === name.length ? {operation, input: {}, confidence: 0.95} : undefined
  const rest = transcript
    .slice(words[name.length - 1]?.end ?? 0)
    .replace(/^[\s,.:;!?]+/u, '')
    .trim()
  const value = argument.type === 'string' ? rest : wholeNumber(rest)
  return value === '' || value === undefined ? undefined : {operation, input: {[argument.name]: value}, confidence: 0.9}
}

function wholeNumber(text: string): number | undefined {
  const spoken = writeSpokenNumbers(text.replace(/[.,!?]+$/u, '').split(/\s+/u)).join(' ')
  const [, digits] = /^(?:t-|number )?(\d{1,15})$/iu.exec(spoken) ?? []
  return digits === undefined ? undefined : Number(digits)
}

const wordsOf = (text: string): Word[] =>
  Array.from(text.matchAll(/[\p{L}\p{N}_]+/gu), (match) => ({
    token: match[0].toLowerCase(),
    end: match.index + match[0].length,
  })).filter(({token}) => !fillers.includes(token))
