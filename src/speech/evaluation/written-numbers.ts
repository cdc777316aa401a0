import {writeSpokenNumbers} from '../text/spoken-numbers.js'

const scaleOf = new Map([
  ['hundred', 100],
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
])

const ordinalWords =
  'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth ' +
  'sixteenth seventeenth eighteenth nineteenth'
const ordinalTens = 'twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth'

const ordinalOf = new Map<string, number>([
  ...ordinalWords.split(' ').map((word, i) => [word, i + 1] as const),
  ...ordinalTens.split(' ').map((word, i) => [word, 20 + 10 * i] as const),
])

/**
 * Writes English numbers in digits, with one form for the same pronunciation: "a hundred" 100, "2 million" 2000000,
 * "twenty first" 21st, "nineteen ninety nine" and "19 99" 1999. Expects lower case.
 */
export function writeNumbers(words: readonly string[]): string[] {
  const counted = words.map((word, i) => (word === 'a' && scaleOf.has(words[i + 1] ?? '') ? 'one' : word))
  const out: string[] = []
  for (const word of writeSpokenNumbers(counted)) {
    // One hundred and first.
    const length = ordinalOf.has(word) && out.at(-1) === 'and' && /^\d+00$/.test(out.at(-2) ?? '') ? 2 : 1
    const joined = joinToNumber(out.at(-length) ?? '', word)
    if (joined !== undefined) out.splice(-length, length, joined)
    else out.push(ordinalOf.has(word) ? ordinal(ordinalOf.get(word) as number) : word)
  }
  return out
}

/** Combines two adjacent numbers to one; undefined if they are separate. */
function joinToNumber(before: string, word: string): string | undefined {
  if (!/^\d{1,12}(?:\.\d{1,3})?$/.test(before)) return undefined
  const value = Number(before)
  const scale = scaleOf.get(word)
  if (scale !== undefined) return String(Math.round(value * scale))
  const last = ordinalOf.get(word)
  if (last !== undefined && leavesRoomFor(value, last)) return ordinal(value + last)
  return isCentury(before) && /^[1-9]\d$/.test(word) ? before + word : undefined
}

/** A unit follows twenty; any smaller number follows a hundred. */
const leavesRoomFor = (value: number, last: number) =>
  value > 0 && (value % 100 === 0 ? last < 100 : value % 100 >= 20 && value % 10 === 0 && last < 10)

/** Years are spoken as two numbers: nineteen, eighty four. */
const isCentury = (digits: string) => /^(?:1[1-9]|20)$/.test(digits)

function ordinal(value: number): string {
  const isTeen = Math.floor(value / 10) % 10 === 1
  return value + (isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th'))
}
