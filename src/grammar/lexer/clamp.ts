import type {Regex, Regexes} from './regex.js'

/**
 * An expression that matches the same beginnings of at most `length` bytes: repetitions that a text of that length cannot
 * end have no maximum. Intersections and complements stay, because their counts decide whether they match anything.
 */
export function clamped(regexes: Regexes, regex: Regex, length: number): Regex {
  if (!regex.plain && regex.kind !== 'sequence' && regex.kind !== 'either') return regex
  switch (regex.kind) {
    case 'sequence': {
      const [head, tail] = [clamped(regexes, regex.head, length), clamped(regexes, regex.tail, length)]
      return head === regex.head && tail === regex.tail ? regex : regexes.sequence(head, tail)
    }
    case 'either': {
      const options = regex.options.map((each) => clamped(regexes, each, length))
      return options.every((each, i) => each === regex.options[i]) ? regex : regexes.either(options)
    }
    case 'repeat': {
      const part = clamped(regexes, regex.part, length)
      const max = regex.max > length ? Number.POSITIVE_INFINITY : regex.max
      const min = Math.min(regex.min, length + 1)
      const isSame = part === regex.part && max === regex.max && min === regex.min
      return isSame ? regex : regexes.repeat(part, min, max)
    }
    default:
      return regex
  }
}
