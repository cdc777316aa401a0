import {createHash} from 'node:crypto'
import type {Regex} from './regex.js'

/** Longer descriptions are replaced by a digest. */
const longest = 100
const known = new WeakMap<Regex, string>()

/** A key that is the same for the same expressions of different grammars. */
export const structureOf = (regexes: readonly Regex[]): string => shortened(regexes.map(structure).join(' '))

function structure(regex: Regex): string {
  const found = known.get(regex)
  if (found !== undefined) return found
  const key = shortened(describe(regex))
  known.set(regex, key)
  return key
}

const shortened = (description: string) =>
  description.length <= longest ? description : createHash('sha256').update(description).digest('base64')

function describe(regex: Regex): string {
  switch (regex.kind) {
    case 'text':
      return JSON.stringify(regex.text)
    case 'byte':
      return `[${regex.set.join('.')}]`
    case 'sequence': {
      let description = '('
      let at: Regex = regex
      for (; at.kind === 'sequence'; at = at.tail) description += structure(at.head)
      return `${description}${structure(at)})`
    }
    case 'either':
      // Their order depends on the grammar.
      return `(${regex.options.map(structure).sort().join('|')})`
    case 'both':
      return `(${regex.parts.map(structure).sort().join('&')})`
    case 'not':
      return `!${structure(regex.part)}`
    case 'repeat':
      return `${structure(regex.part)}{${regex.min},${regex.max}}`
    default:
      return `.${regex.kind}`
  }
}
