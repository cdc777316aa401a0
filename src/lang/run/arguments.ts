import {nearest} from '../../errors/index.js'
import {type FunctionType, show} from '../check/index.js'
import {decoder, TypeMismatch} from './decode.js'
import {parseJsonText} from './json-text.js'
import type {Value} from './value.js'

/** An argument that a function does not accept. */
export class BadArgument extends Error {
  readonly argument: string
  constructor(argument: string, message: string) {
    super(message)
    this.argument = argument
  }
}

/** Maximum length of a value in a message, in characters. */
const maxQuoteLength = 60

/** Reads assignments `name=value`, where a value is JSON or plain text. @throws BadArgument */
export function readArguments(target: FunctionType, assignments: readonly string[]): Value[] {
  const {params, chains} = target
  const texts = new Map<string, string>()
  for (const assignment of assignments) {
    const at = assignment.indexOf('=')
    const name = at < 0 ? assignment : assignment.slice(0, at)
    if (at < 0) throw new BadArgument(name, 'it is not of the form name=value')
    if (!params.some((param) => param.name === name)) {
      const suggestion = nearest(
        name,
        params.map((param) => param.name),
      )
      const also = suggestion === undefined ? '' : ` (did you mean ${suggestion}?)`
      throw new BadArgument(name, `the endpoint has no such parameter${also}`)
    }
    texts.set(name, assignment.slice(at + 1))
  }
  return params.map(({name, type, optional, binding}) => {
    const text = texts.get(name)
    if (text !== undefined) {
      const value = readValue(name, text, type)
      // The language counts a negative limit as 0, but a user who writes one expects rows.
      const isLimit = chains.some(({limit}) => limit?.kind === 'local' && limit.binding === binding)
      if (isLimit && (value as number) < 0)
        throw new BadArgument(name, 'it limits the rows, so it must not be negative')
      return value
    }
    if (!optional && type.kind !== 'option' && type.kind !== 'request') throw new BadArgument(name, 'it is missing')
    return optional ? undefined : null
  })
}

function readValue(name: string, text: string, type: FunctionType['params'][number]['type']): Value {
  const decode = decoder(type)
  for (const candidate of [parsed(text), text])
    try {
      return decode(candidate)
    } catch (error) {
      if (!(error instanceof TypeMismatch)) throw error
    }
  const excerpt = text.length > maxQuoteLength ? `${text.slice(0, maxQuoteLength)}…` : text
  throw new BadArgument(name, `it must be ${show(type)}, not ${JSON.stringify(excerpt)}`)
}

function parsed(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch {
    return text
  }
}
