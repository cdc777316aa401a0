/**
 * Tables of refinement. A row maps recognised words in lower case to their replacement. No replacement contains a word
 * that another row replaces, so refining twice has no further effect; a test verifies this.
 */
export type SpeechDomain = 'general' | 'code'

export type PhraseTable = ReadonlyMap<string, string>

const generalConfusions: readonly (readonly [heard: string, written: string])[] = [
  ['tool call', 'tool-call'],
  ['tool calls', 'tool-calls'],
]

/** Spoken and written types of the data language. */
const scalarTypes = [
  ['int', 'int'],
  ['integer', 'int'],
  ['float', 'float'],
  ['bool', 'bool'],
  ['boolean', 'bool'],
  ['str', 'str'],
  ['string', 'str'],
] as const

const genericTypes = ['Option', 'List', 'Set', 'Result'] as const

/** "list of string" is a type; prose would use the plural. */
const typePhrases = genericTypes.flatMap((generic) =>
  scalarTypes.map(([spoken, type]) => [`${generic.toLowerCase()} of ${spoken}`, `${generic}[${type}]`] as const),
)

/** Words of the data language and similar-sounding words. */
const codeConfusions: readonly (readonly [heard: string, written: string])[] = [
  ['at table', '@table'],
  ['at index', '@index'],
  ['at search index', '@search_index'],
  ['at vector index', '@vector_index'],
  ['at endpoint', '@endpoint'],
  ['at end point', '@endpoint'],
  ['kind query', 'kind: query'],
  ['kind mutation', 'kind: mutation'],
  ['kind server', 'kind: server'],
  ['pub function', 'pub fn'],
  ['pub fun', 'pub fn'],
  ['let mute', 'let mut'],
  ['order by', 'order_by'],
  ['unwrap or', 'unwrap_or'],
  ['to string', 'to_string'],
  ...typePhrases,
]

export const confusionTables: Readonly<Record<SpeechDomain, PhraseTable>> = {
  general: new Map(generalConfusions),
  code: new Map([...generalConfusions, ...codeConfusions]),
}

/** Product names and their spelling. */
export const phraseTable: PhraseTable = new Map([
  ['s v c', 'svc'],
  ['speech to code', 'speech-to-code'],
])

const generalLexicon = [
  'svc',
  'mesh',
  'speech',
  'whisper',
  'transcribe',
  'orchestrator',
  'tool-call',
  'workflow',
  'status',
]

const codeLexicon = [
  'fn',
  'mut',
  'pub',
  'str',
  'int',
  'bool',
  'query',
  'mutation',
  'endpoint',
  'table',
  'index',
  'route',
]

/** Words in lower case except at the start of a sentence. */
export const domainLexicons: Readonly<Record<SpeechDomain, readonly string[]>> = {
  general: generalLexicon,
  code: [...generalLexicon, ...codeLexicon],
}

/** English fillers. */
export const fillers: ReadonlySet<string> = new Set(['um', 'umm', 'uh', 'uhm', 'er', 'erm', 'hmm'])

/** English words whose repetition is intentional or meaningful. */
export const repeatable: ReadonlySet<string> = new Set(
  [
    'had that is very really so no now yes yeah bye ha oh okay ok many much more far long there here well please never',
    'knock blah tick tut hear again up down can do her you it in on what',
    // Digits and symbols are spelled one by one.
    'zero one two three four five six seven eight nine ten hundred thousand double triple point',
    'dot dash slash colon semicolon underscore pipe bang star asterisk ampersand backslash equals plus minus hash',
  ].flatMap((words) => words.split(' ')),
)
