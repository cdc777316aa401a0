import type {Expression, Grammar, Pattern} from '../../../src/grammar/index.js'

type Words = ReadonlySet<string>

/**
 * All texts of a grammar of at most `length` characters of an alphabet, by the definition of each expression: the sets of
 * the rules grow until nothing is added.
 */
export function wordsOf({rules, start}: Grammar, alphabet: readonly string[], length: number): Words {
  const texts = textsOf(alphabet, length)
  const found = new Map<string, Words>([...rules.keys()].map((name) => [name, new Set<string>()]))
  const short = (words: Iterable<string>) => new Set([...words].filter((word) => texts.has(word)))
  const join = (a: Words, b: Words) => {
    const joined = new Set<string>()
    for (const first of a) for (const second of b) if (texts.has(first + second)) joined.add(first + second)
    return joined
  }
  const repeat = (part: Words, min: number, max: number): Words => {
    const all = new Set<string>()
    let words: Words = new Set([''])
    // Only empty parts can be repeated more often without reaching the length.
    const least = part.has('') ? 0 : min
    for (let count = 0; count <= Math.min(max, length); count++) {
      if (count >= least) for (const word of words) all.add(word)
      words = join(words, part)
    }
    return all
  }
  const known = new Map<Pattern, Words>()
  const ofPattern = (pattern: Pattern): Words => {
    const words = known.get(pattern) ?? wordsOfPattern(pattern)
    known.set(pattern, words)
    return words
  }
  const wordsOfPattern = (pattern: Pattern): Words => {
    switch (pattern.kind) {
      case 'text':
        return short([pattern.text])
      case 'characters': {
        const {ranges} = pattern
        const isIn = (code: number) => ranges.some(([first, last]) => first <= code && code <= last)
        return new Set(alphabet.filter((letter) => isIn(letter.codePointAt(0)!)))
      }
      case 'sequence':
        return pattern.parts.map(ofPattern).reduce(join, new Set(['']))
      case 'either':
        return new Set(pattern.options.flatMap((each) => [...ofPattern(each)]))
      case 'repeat':
        return repeat(ofPattern(pattern.part), pattern.min, pattern.max)
      case 'both': {
        const parts = pattern.parts.map(ofPattern)
        return new Set([...texts].filter((text) => parts.every((words) => words.has(text))))
      }
      case 'not': {
        const words = ofPattern(pattern.part)
        return new Set([...texts].filter((text) => !words.has(text)))
      }
    }
  }
  const ofExpression = (expression: Expression): Words => {
    switch (expression.kind) {
      case 'lexeme':
        return ofPattern(expression.pattern)
      case 'special':
      case 'nested':
        throw new Error('Words have no special tokens and no nested grammars.')
      case 'rule':
        return found.get(expression.name)!
      case 'sequence':
        return expression.parts.map(ofExpression).reduce(join, new Set(['']))
      case 'either':
        return new Set(expression.options.flatMap((each) => [...ofExpression(each)]))
      case 'repeat':
        return repeat(ofExpression(expression.part), expression.min, expression.max)
    }
  }
  const total = () => [...found.values()].reduce((sum, {size}) => sum + size, 0)
  for (let before = -1; before !== total(); ) {
    before = total()
    for (const [name, expression] of rules) found.set(name, ofExpression(expression))
  }
  return found.get(start)!
}

/** All texts of at most `length` characters. */
export function textsOf(alphabet: readonly string[], length: number): Words {
  const all = new Set([''])
  let last = ['']
  for (let count = 0; count < length; count++) {
    last = last.flatMap((text) => alphabet.map((letter) => text + letter))
    for (const text of last) all.add(text)
  }
  return all
}
