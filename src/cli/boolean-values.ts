import {SvcError} from '../errors/index.js'

/** Definition of a flag, as far as its spelling depends on it. */
export interface FlagSpelling {
  type: string
  char?: string | undefined
  aliases?: readonly string[] | undefined
  allowNo?: boolean | undefined
}

const meanings: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  yes: true,
  false: false,
  '0': false,
  no: false,
}

interface Spelled {
  name: string
  flag: FlagSpelling
  /** `--no-flag` */
  isNegative: boolean
}

/**
 * Replaces `--flag=true` and `--flag=false` of boolean flags by spellings that the parser of oclif understands: it would set
 * the flag either way, and read the value as an argument. A flag that is switched off is removed, with its earlier
 * occurrences, or becomes `--no-flag`.
 * @throws usage if the value is neither
 */
export function withBooleanValues(argv: readonly string[], flags: Readonly<Record<string, FlagSpelling>>): string[] {
  const spellings = new Map<string, Spelled>()
  for (const [name, flag] of Object.entries(flags)) {
    for (const spelling of [name, ...(flag.aliases ?? [])]) {
      spellings.set(`--${spelling}`, {name, flag, isNegative: false})
      if (flag.allowNo) spellings.set(`--no-${spelling}`, {name, flag, isNegative: true})
    }
    if (flag.char !== undefined) spellings.set(`-${flag.char}`, {name, flag, isNegative: false})
  }
  let result: {word: string; name?: string}[] = []
  let isValue = false
  for (const [i, word] of argv.entries()) {
    if (word === '--') return [...result.map((each) => each.word), ...argv.slice(i)]
    const [, spelling = word, value] = /^(--?[^=]+)=(.*)$/s.exec(word) ?? []
    const found: Spelled | undefined = isValue ? undefined : spellings.get(spelling)
    isValue = found?.flag.type === 'option' && value === undefined
    if (found?.flag.type !== 'boolean' || value === undefined) {
      result.push({word, ...(found?.flag.type === 'boolean' ? {name: found.name} : {})})
      continue
    }
    const {name, flag, isNegative} = found
    const meaning = meanings[value.toLowerCase()]
    if (meaning === undefined)
      throw new SvcError('usage', {reason: `${spelling} must be true or false, not ${JSON.stringify(value)}.`})
    if (meaning !== isNegative) result.push({word: `--${name}`, name})
    else if (flag.allowNo) result.push({word: `--no-${name}`, name})
    else result = result.filter((each) => each.name !== name)
  }
  return result.map(({word}) => word)
}
