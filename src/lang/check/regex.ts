import {createRequire} from 'node:module'
import type {RE2JS} from 're2js'
import {type Fault, type Signature, takes} from './builtin.js'
import type {Ir} from './ir.js'
import {bool, list, option, str} from './types.js'

const maxPatternLength = 1000

let engine: typeof import('re2js') | undefined

/** Loads RE2, which matches in linear time, when a program first uses it. */
function load(): typeof import('re2js') {
  engine ??= createRequire(import.meta.url)('re2js') as typeof import('re2js')
  return engine
}

/** Compiles a pattern; returns what is wrong with it as text. */
export function compileRegex(pattern: string): RE2JS | string {
  if (pattern.length > maxPatternLength) return `longer than ${maxPatternLength} characters`
  const {RE2JS, RE2JSException} = load()
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    if (error instanceof RE2JSException)
      return error.message.replace(/^error parsing regexp: /, '').replaceAll('`', "'")
    throw error
  }
}

/** The pattern is the second argument; a literal one is compiled when the program is checked. */
function patternFault([, pattern]: readonly Ir[]): Fault | undefined {
  if (pattern?.kind !== 'const' || typeof pattern.value !== 'string') return undefined
  const fault = compileRegex(pattern.value)
  return typeof fault === 'string' ? {needs: 'a regular expression', found: `one with a fault: ${fault}`} : undefined
}

const matching = (signature: Signature): Signature => ({...signature, fault: patternFault})

export const regexNamespaced: Readonly<Record<string, Signature>> = {
  'std.regex.is_match': matching(takes([str, str], bool)),
  'std.regex.find': matching(takes([str, str], option(list(str)))),
  'std.regex.find_all': matching(takes([str, str], list(str))),
  'std.regex.replace': matching(takes([str, str, str], str)),
  'std.regex.split': matching(takes([str, str], list(str))),
}
