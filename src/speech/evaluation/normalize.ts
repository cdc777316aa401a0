import {americanSpelling} from './spelling.js'
import {writeNumbers} from './written-numbers.js'

export const normalizers = {
  /** No normalisation. */
  none: (text: string) => text,
  basic: normalizeBasic,
  english: normalizeEnglish,
} as const

export type NormalizerName = keyof typeof normalizers

/** Lower case, without bracketed remarks, punctuation and symbols, in compatibility normal form. */
function normalizeBasic(text: string): string {
  return withoutRemarks(text.normalize('NFKC').toLowerCase())
    .replace(/[\p{P}\p{S}]/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim()
}

/** Remarks such as `[music]`, `(laughs)` and `<unk>`. */
const withoutRemarks = (text: string) => text.replace(/[<[][^<>[\]]*[>\]]/g, ' ').replace(/\([^()]*\)/g, ' ')

/** Contractions and their expansions; the first matching rule applies. */
const contractions: readonly (readonly [RegExp, string])[] = [
  [/\b(?:um|uh|uhm|hmm|mhm|mmm|erm)\b/g, ' '],
  [/\bwon't\b/g, 'will not'],
  [/\bcan't\b/g, 'can not'],
  [/\bcannot\b/g, 'can not'],
  [/\bshan't\b/g, 'shall not'],
  [/\bain't\b/g, 'is not'],
  [/\blet's\b/g, 'let us'],
  [/\by'all\b/g, 'you all'],
  [/\bgonna\b/g, 'going to'],
  [/\bgotta\b/g, 'got to'],
  [/\bwanna\b/g, 'want to'],
  [/\bma'am\b/g, 'madam'],
  [/n't\b/g, ' not'],
  [/'re\b/g, ' are'],
  [/'ll\b/g, ' will'],
  [/'ve\b/g, ' have'],
  [/'m\b/g, ' am'],
  [/'d\b/g, ' would'],
  [/\b(it|that|there|he|she|what|who|where|here|how)'s\b/g, '$1 is'],
  [/\bmr\b\.?/g, 'mister'],
  [/\bmrs\b\.?/g, 'missus'],
  [/\bdr\b\.?/g, 'doctor'],
  [/\bprof\b\.?/g, 'professor'],
  [/\bvs\b\.?/g, 'versus'],
  [/\bper cent\b/g, 'percent'],
  [/'s\b/g, ' s'],
]

const currencies: Readonly<Record<string, string>> = {$: 'dollar', '£': 'pound', '€': 'euro'}

/** Amounts such as `$3.5 million`, where the currency is spoken last. */
const amount = /([$£€]) ?(\d+(?:\.\d+)?(?: (?:hundred|thousand|million|billion)\b)?)/g

/**
 * Normalises English by pronunciation: contractions expanded, numbers in digits, American spelling. Based on the idea
 * of the English normaliser of openai/whisper.
 */
function normalizeEnglish(text: string): string {
  const plain = withoutRemarks(text.normalize('NFKC').toLowerCase()).replace(/[’‘ʼ]/g, "'")
  const full = contractions.reduce((current, [written, spoken]) => current.replace(written, spoken), plain)
  const words = full
    .replace(/(\d),(?=\d{3}\b)/g, '$1')
    // A decimal point is part of the number; other punctuation separates words.
    .replace(/(?<!\d)\.|\.(?!\d)/g, ' ')
    .replace(/[^\p{L}\p{N}\p{M}.%$£€]+/gu, ' ')
    .replace(amount, (_, sign: string, value: string) => `${value} ${currencies[sign]}${value === '1' ? '' : 's'}`)
    .replaceAll('%', ' percent')
    .split(/\s+/u)
    .filter(Boolean)
  return writeNumbers(words).map(americanSpelling).join(' ')
}
