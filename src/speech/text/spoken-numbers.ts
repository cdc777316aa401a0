const units = 'zero one two three four five six seven eight nine'.split(' ')
const teens = 'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' ')
const tens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')

const digitOf = new Map<string, number>([...units.map((word, i) => [word, i] as const), ['oh', 0]])
const cardinalOf = new Map<string, number>([
  ...units.map((word, i) => [word, i] as const),
  ...teens.map((word, i) => [word, 10 + i] as const),
  ...tens.map((word, i) => [word, 20 + 10 * i] as const),
])
const scaleOf = new Map([
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
])

/**
 * Writes English cardinals in digits: "twenty one" 21, "one hundred five" 105, "one oh one" 101, "three point five"
 * 3.5. A single word such as "one" is a number too, except "oh".
 */
export function writeSpokenNumbers(words: readonly string[]): string[] {
  const out: string[] = []
  for (let at = 0; at < words.length; ) {
    const number = readNumber(words.slice(at, at + maxWords).map((word) => word.toLowerCase()))
    out.push(number?.digits ?? (words[at] as string))
    at += number?.length ?? 1
  }
  return out
}

/** Maximum length of a spoken number, words. */
const maxWords = 24

interface Read {
  digits: string
  length: number
}

function readNumber(words: readonly string[]): Read | undefined {
  const whole = readDigits(words) ?? readCardinal(words)
  if (whole === undefined) return undefined
  if (words[whole.length] !== 'point') return whole
  const decimals = countWhile(words.slice(whole.length + 1), (word) => digitOf.has(word))
  if (decimals === 0) return whole
  const fraction = words.slice(whole.length + 1, whole.length + 1 + decimals).map((word) => digitOf.get(word))
  return {digits: `${whole.digits}.${fraction.join('')}`, length: whole.length + 1 + decimals}
}

/** Digits that are spelled out one by one: two or more, the first not "oh". */
function readDigits(words: readonly string[]): Read | undefined {
  const length = words[0] === 'oh' ? 0 : countWhile(words, (word) => digitOf.has(word))
  if (length < 2) return undefined
  const digits = words.slice(0, length).map((word) => digitOf.get(word))
  return {digits: digits.join(''), length}
}

function readCardinal(words: readonly string[]): Read | undefined {
  let total = 0
  let group = 0
  let length = 0
  // The smallest part so far limits what can follow: after "twenty" a unit, after "hundred" anything below 100.
  let room = Infinity
  let scale = Infinity
  for (const [i, word] of words.entries()) {
    const value = cardinalOf.get(word)
    const next = scaleOf.get(word)
    if (value !== undefined && value < room && (value > 0 || length === 0)) {
      group += value
      room = value >= 20 ? 10 : 0
    } else if (word === 'hundred' && group > 0 && group < 10) {
      group *= 100
      room = 100
    } else if (next !== undefined && group > 0 && next < scale) {
      total += group * next
      group = 0
      room = Infinity
      scale = next
    } else if (word === 'and' && room === 100 && cardinalOf.has(words[i + 1] ?? '')) continue
    else break
    length = i + 1
  }
  return length === 0 ? undefined : {digits: String(total + group), length}
}

function countWhile<T>(items: readonly T[], test: (item: T) => boolean): number {
  const end = items.findIndex((item) => !test(item))
  return end < 0 ? items.length : end
}
