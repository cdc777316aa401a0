/** Rules for everything that a person reads. `docs/terms.md` and the table of phrases say what to write instead. */

/** A text, and where it is: a file and line, a command, an error code. */
export interface Text {
  place: string
  text: string
}

export interface ProseFinding {
  place: string
  rule: string
}

/** Phrases that are not idiomatic technical English, each with what to write instead. */
const phrases: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\btold\b|\btells?\b/i, 'reports, shows, prints, knows'],
  [/\bwhoever\b|\bwhomever\b|\bwhom\b/i, 'name the actor: a client, a user'],
  [/\bsomebody\b|\bnobody\b/i, 'a user, someone, no one'],
  [/\banew\b|\bonce more\b|\bover again\b/i, 'again, restarts'],
  [/\bin (the|its|their) places? (of)?\b/i, 'instead of, replaces'],
  [/\bof (itself|themselves)\b|\bby themselves\b/i, 'automatically'],
  [/\bputs? (it |them )?right\b|\bmends?\b/i, 'fixes'],
  [/\bsigns? of life\b/i, 'heartbeat'],
  [/\bwrit(e|es|ten) down\b|\bwrote down\b/i, 'transcribe, record, log'],
  [/\bbeside\b/i, 'next to, in addition to'],
  [/\bgives back\b|\bgiven back\b|\bgive back\b/i, 'returns, releases'],
  [/\blets? (it |them |a machine )?(in|through)\b/i, 'admits, authenticates'],
  [/\bgoes on\b|\bgo on\b|\bcomes? along\b/i, 'continues'],
  [/\b(it|that|this|which|what|he) is no [a-z]/i, 'is not a'],
  [/\bstands? (to|on|beside|in|at)\b/i, 'is'],
  [/\bdwells?\b|\bgets? to know\b/i, 'is, learns'],
  [/\bsuch a one\b|\bthat there (is|are)\b/i, 'restructure the sentence'],
  [/\bfaces\b/, 'bindings'],
  [/\bplanted\b|\bwitnessed\b/i, 'injected, verified'],
  [/\bpatience\b/i, 'timeout'],
  [/\bis taken for\b|\btakes it for\b/i, 'is treated as'],
  [/\bas (it|they) (is|are) heard\b/i, 'while it is read'],
  [/\bis begun\b|\bbegin anew\b/i, 'starts, restarts'],
  [/\bto come back\b/i, 'to retry'],
]

/** A sentence with more words than this is split. */
const maxSentenceWords = 30

export const maxSummaryLength = 60

/** What is wrong with some texts. Code, links, paths and quoted names are not prose. */
export const proseFindings = (texts: readonly Text[]): ProseFinding[] =>
  texts.flatMap(({place, text}) => {
    const prose = withoutCode(text)
    const unidiomatic = phrases.flatMap(([phrase, instead]) => {
      const found = phrase.exec(prose)?.[0]
      return found === undefined ? [] : [{place, rule: `"${found.trim()}": write ${instead}`}]
    })
    const long = sentencesOf(prose).filter((sentence) => wordsOf(sentence) > maxSentenceWords)
    return [
      ...unidiomatic,
      ...long.map((sentence) => ({place, rule: `${wordsOf(sentence)} words: ${sentence.trim().slice(0, 60)}…`})),
    ]
  })

/** What is wrong with the summaries of commands, by their command line. */
export const summaryFindings = (texts: readonly Text[], verbs: ReadonlySet<string>): ProseFinding[] =>
  texts.flatMap(({place, text}) => [
    ...(text.length > maxSummaryLength ? [{place, rule: `${text.length} characters: ${text}`}] : []),
    ...(verbs.has(text.split(' ')[0] ?? '') ? [] : [{place, rule: `starts with no verb of the list: ${text}`}]),
  ])

const withoutCode = (text: string): string =>
  text
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/`[^`]*`/g, 'code')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/<[^>]*>/g, '')

/** Sentences end with a full stop, a colon at the end of a line, an empty line, or the end of a list item or table cell. */
const sentencesOf = (text: string): string[] =>
  text.split(/(?<=[.!?])\s+|(?<=:)\s*\n|\n\s*\n|\n\s*(?=[-*|#] |\d+\. )| \| /)

const wordsOf = (sentence: string): number => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length
