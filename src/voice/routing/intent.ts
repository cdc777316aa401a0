import type {EditorContext} from './editor-context.js'

export type Intent = 'speech_status' | 'code_create' | 'code_edit' | 'explain_code' | 'run_check' | 'none'

/** What a spoken sentence asks for. */
export interface FoundIntent {
  intent: Intent
  /** 0 to 1. */
  confidence: number
}

/** A sentence in the forms in which it is compared. */
interface Spoken {
  /** In lower case. */
  text: string
  /** Runs of letters, digits and underscores. */
  tokens: readonly string[]
  /** Without white space. */
  compact: string
}

/** Lower-case runs of letters, digits and underscores. */
export const tokensOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []

const createPhrases = [
  ...['create a function', 'create function', 'new function', 'add a function', 'add function'],
  ...['write a function', 'generate code', 'add file', 'create file', 'new file'],
]
const compactCreate = ['createfunction', 'newfunction', 'addfunction', 'generatecode', 'createfile']
const editWords = ['edit', 'change', 'modify', 'update', 'refactor', 'rename', 'replace']
const checkPhrases = [
  ...['run test', 'run tests', 'run the test', 'run the tests', 'run checks', 'type check'],
  ...['cargo test', 'npm test', 'node test'],
]

interface IntentRow extends FoundIntent {
  matches(spoken: Spoken, editor: EditorContext): boolean
}

/** The first row that matches decides. */
const rows: readonly IntentRow[] = [
  {
    intent: 'code_edit',
    confidence: 0.85,
    matches: ({text}, {activeFile}) => activeFile !== undefined && containsAny(text, ['edit this', 'change this']),
  },
  {
    intent: 'code_edit',
    confidence: 0.88,
    matches: ({tokens}, {activeFile, recentErrors}) =>
      activeFile !== undefined &&
      recentErrors.some((error) => tokensOf(error).some((word) => word.length > 3 && tokens.includes(word))),
  },
  {
    intent: 'code_edit',
    confidence: 0.82,
    matches: ({text, tokens}, {activeFile, recentErrors}) =>
      activeFile !== undefined && (text.includes('fix this') || (recentErrors.length > 0 && tokens.includes('fix'))),
  },
  {
    intent: 'speech_status',
    confidence: 0.92,
    matches: ({text, compact}) => compact.includes('speechstatus') || text.includes('speech status'),
  },
  {intent: 'speech_status', confidence: 0.78, matches: ({tokens}) => tokens.join(' ') === 'status'},
  {
    intent: 'speech_status',
    confidence: 0.72,
    matches: ({tokens}) => tokens.includes('status') && tokens.some((token) => token.includes('speech')),
  },
  {
    intent: 'speech_status',
    confidence: 0.55,
    matches: ({tokens}) => tokens.includes('status') && tokens.includes('svc'),
  },
  {intent: 'code_create', confidence: 0.74, matches: ({tokens}) => containsWords(tokens, createPhrases)},
  {intent: 'code_create', confidence: 0.72, matches: ({text}) => containsAny(text, createPhrases)},
  {intent: 'code_create', confidence: 0.62, matches: ({compact}) => containsAny(compact, compactCreate)},
  {intent: 'code_edit', confidence: 0.7, matches: ({tokens}) => tokens.some((token) => editWords.includes(token))},
  {
    intent: 'explain_code',
    confidence: 0.66,
    matches: ({tokens}) => tokens[0] === 'explain' || containsWords(tokens, ['what does', 'how does']),
  },
  {intent: 'run_check', confidence: 0.7, matches: ({tokens}) => containsWords(tokens, checkPhrases)},
]

/** Confidence that a sentence asks for nothing of these. */
const noneConfidence = 0.35

/** Finds what a sentence asks for; without words, the confidence is 0. */
export function findIntent(transcript: string, editor: EditorContext): FoundIntent {
  const text = transcript.toLowerCase()
  const spoken = {text, tokens: tokensOf(text), compact: text.replace(/\s+/gu, '')}
  if (spoken.compact === '') return {intent: 'none', confidence: 0}
  const {intent, confidence} = rows.find((row) => row.matches(spoken, editor)) ?? {
    intent: 'none',
    confidence: noneConfidence,
  }
  return {intent, confidence}
}

const containsAny = (text: string, parts: readonly string[]) => parts.some((part) => text.includes(part))

/** True if one of the phrases occurs as consecutive words. */
function containsWords(tokens: readonly string[], phrases: readonly string[]): boolean {
  const words = ` ${tokens.join(' ')} `
  return phrases.some((phrase) => words.includes(` ${phrase} `))
}
