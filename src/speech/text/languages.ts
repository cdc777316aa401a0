/**
 * The languages of Whisper in the order of their tokens, `<|en|>` first, with their English names. Models before
 * large-v3 know the first 99. Codes are ISO 639-1 where there is one, with `jw` for Javanese and `haw`, `yue` of 639-3.
 */
const names: Readonly<Record<string, string>> = {
  en: 'english',
  zh: 'chinese',
  de: 'german',
  es: 'spanish',
  ru: 'russian',
  ko: 'korean',
  fr: 'french',
  ja: 'japanese',
  pt: 'portuguese',
  tr: 'turkish',
  pl: 'polish',
  ca: 'catalan',
  nl: 'dutch',
  ar: 'arabic',
  sv: 'swedish',
  it: 'italian',
  id: 'indonesian',
  hi: 'hindi',
  fi: 'finnish',
  vi: 'vietnamese',
  he: 'hebrew',
  uk: 'ukrainian',
  el: 'greek',
  ms: 'malay',
  cs: 'czech',
  ro: 'romanian',
  da: 'danish',
  hu: 'hungarian',
  ta: 'tamil',
  no: 'norwegian',
  th: 'thai',
  ur: 'urdu',
  hr: 'croatian',
  bg: 'bulgarian',
  lt: 'lithuanian',
  la: 'latin',
  mi: 'maori',
  ml: 'malayalam',
  cy: 'welsh',
  sk: 'slovak',
  te: 'telugu',
  fa: 'persian',
  lv: 'latvian',
  bn: 'bengali',
  sr: 'serbian',
  az: 'azerbaijani',
  sl: 'slovenian',
  kn: 'kannada',
  et: 'estonian',
  mk: 'macedonian',
  br: 'breton',
  eu: 'basque',
  is: 'icelandic',
  hy: 'armenian',
  ne: 'nepali',
  mn: 'mongolian',
  bs: 'bosnian',
  kk: 'kazakh',
  sq: 'albanian',
  sw: 'swahili',
  gl: 'galician',
  mr: 'marathi',
  pa: 'punjabi',
  si: 'sinhala',
  km: 'khmer',
  sn: 'shona',
  yo: 'yoruba',
  so: 'somali',
  af: 'afrikaans',
  oc: 'occitan',
  ka: 'georgian',
  be: 'belarusian',
  tg: 'tajik',
  sd: 'sindhi',
  gu: 'gujarati',
  am: 'amharic',
  yi: 'yiddish',
  lo: 'lao',
  uz: 'uzbek',
  fo: 'faroese',
  ht: 'haitian creole',
  ps: 'pashto',
  tk: 'turkmen',
  nn: 'nynorsk',
  mt: 'maltese',
  sa: 'sanskrit',
  lb: 'luxembourgish',
  my: 'myanmar',
  bo: 'tibetan',
  tl: 'tagalog',
  mg: 'malagasy',
  as: 'assamese',
  tt: 'tatar',
  haw: 'hawaiian',
  ln: 'lingala',
  ha: 'hausa',
  ba: 'bashkir',
  jw: 'javanese',
  su: 'sundanese',
  yue: 'cantonese',
}

/** Other common names and codes. */
const aliases: Readonly<Record<string, string>> = {
  burmese: 'my',
  valencian: 'ca',
  flemish: 'nl',
  haitian: 'ht',
  letzeburgesch: 'lb',
  pushto: 'ps',
  panjabi: 'pa',
  moldavian: 'ro',
  moldovan: 'ro',
  sinhalese: 'si',
  castilian: 'es',
  mandarin: 'zh',
  bokmal: 'no',
  farsi: 'fa',
  filipino: 'tl',
  cmn: 'zh',
  fil: 'tl',
  iw: 'he',
  jv: 'jw',
  nb: 'no',
}

/** Codes in the order of Whisper's tokens: 100, of which models before large-v3 know the first 99. */
export const languageCodes: readonly string[] = Object.keys(names)

const codes: ReadonlyMap<string, string> = new Map([
  ...Object.entries(aliases),
  ...Object.entries(names).map(([code, name]) => [name, code] as const),
  ...languageCodes.map((code) => [code, code] as const),
])

/** Returns the English name of a language in lower case, such as `german`; undefined for unknown codes. */
export const languageName = (code: string): string | undefined => (Object.hasOwn(names, code) ? names[code] : undefined)

let ownNames: ReadonlyMap<string, string> | undefined

/** Codes by the names of languages in the language itself, such as `deutsch`. */
function codesByOwnName(): ReadonlyMap<string, string> {
  ownNames ??= new Map(
    languageCodes.flatMap((code) => {
      const name = new Intl.DisplayNames([code], {type: 'language', fallback: 'none'}).of(code)
      return name === undefined ? [] : [[name.toLowerCase(), code] as const]
    }),
  )
  return ownNames
}

/** Returns the code for a code, a name in English or in the language itself, or an alias; undefined if it is unknown. */
export function languageCode(codeOrName: string): string | undefined {
  const word = codeOrName.trim().toLowerCase()
  return codes.get(word) ?? codesByOwnName().get(word)
}

/** The canonical tag of a language that is specified as a code, a name or a locale; undefined if it is none. */
function languageTag(word: string): string | undefined {
  const given = word.trim().toLowerCase().replaceAll('_', '-')
  const known = languageCode(given) ?? languageCode(given.split('-')[0] ?? '')
  if (known !== undefined) return known
  if (!/^[a-z]{2,3}(-[a-z0-9]+)*$/.test(given)) return undefined
  // Also maps codes of three letters, such as ger and deu to de.
  const [tag = ''] = Intl.getCanonicalLocales(given.split('-')[0])
  return languageCode(tag) ?? tag
}

/** Returns a test for the languages of tracks, which are codes of two or three letters; undefined if the word is no language. */
export function languageTest(word: string): ((tag: string) => boolean) | undefined {
  const wanted = languageTag(word)
  return wanted === undefined ? undefined : (tag) => languageTag(tag) === wanted
}

/** All words that `languageCode` accepts. */
export const languageWords: readonly string[] = [...codes.keys()]
