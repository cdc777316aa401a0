import {createHash} from 'node:crypto'
import type {Regex} from './regex.js'

/** Longer descriptions are replaced by a digest. */
const longestKey = 200
/** Expressions with longer descriptions are not compared. */
const longestDescription = 100_000

/** A key that is the same for the same expressions of different grammars; undefined if they are too large. */
export function structureOf(regexes: readonly Regex[]): string | undefined {
  let description = ''
  const write = (regex: Regex): void => {
    if (description.length > longestDescription) return
    if (regex.kind === 'text') description += JSON.stringify(regex.text)
    else if (regex.kind === 'byte') description += `[${regex.set.join('.')}]`
    else if (regex.kind === 'sequence') writeAll('.', [regex.head, regex.tail])
    else if (regex.kind === 'either') writeAll('|', regex.options)
    else if (regex.kind === 'both') writeAll('&', regex.parts)
    else if (regex.kind === 'not') writeAll('!', [regex.part])
    else if (regex.kind === 'repeat') writeAll(`${regex.min}-${regex.max}`, [regex.part])
    else description += regex.kind
  }
  const writeAll = (operator: string, parts: readonly Regex[]) => {
    description += `(${operator} `
    for (const part of parts) write(part)
    description += ')'
  }
  writeAll('', regexes)
  if (description.length > longestDescription) return undefined
  return description.length <= longestKey ? description : createHash('sha256').update(description).digest('base64')
}
