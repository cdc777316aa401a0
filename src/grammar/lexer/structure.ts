import {createHash} from 'node:crypto'
import type {Regex, Regexes} from './regex.js'

/** Longer descriptions are replaced by a digest. */
const maxLength = 100

/** A key that is the same for the same expressions of different grammars. */
export const structureOf = ({structures}: Regexes, regexes: readonly Regex[]): string => {
  const structure = (regex: Regex): string => {
    const known = structures.get(regex) ?? shortened(describe(regex, structure))
    structures.set(regex, known)
    return known
  }
  return shortened(regexes.map(structure).join(' '))
}

const shortened = (description: string) =>
  description.length <= maxLength ? description : createHash('sha256').update(description).digest('base64')

function describe(regex: Regex, structure: (regex: Regex) => string): string {
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
