import type {EditorContext} from './editor-context.js'
import type {Intent} from './intent.js'

/** The part of the code that a sentence names. */
export interface CodeTarget {
  node_kind: 'function' | 'struct' | 'type' | 'module'
  symbol_name?: string
  at_cursor: boolean
}

/** The details of an intent that a sentence names. */
export interface Slots {
  target_path?: string
  symbol_name?: string
  ast_target?: CodeTarget
}

export type SlotGap = 'target_path_or_symbol' | 'test_scope' | 'explain_focus'

const kinds: Readonly<Record<string, CodeTarget['node_kind']>> = {
  function: 'function',
  fn: 'function',
  struct: 'struct',
  type: 'type',
  module: 'module',
  file: 'module',
}
/** Extension of programs of the data language. */
const sourceExtension = '.svc'
const connectors = ['called', 'named', 'for']

/** Reads the details from a sentence and the editor. */
export function readSlots(transcript: string, editor: EditorContext): Slots {
  const words = transcript.split(/\s+/u).filter(Boolean)
  const path = targetPath(transcript, words, editor)
  const target = codeTarget(words, editor)
  return {
    ...(path === undefined ? {} : {target_path: path}),
    ...named(symbolName(words)),
    ...(target === undefined ? {} : {ast_target: target}),
  }
}

function targetPath(transcript: string, words: readonly string[], {activeFile}: EditorContext): string | undefined {
  const quoted = Array.from(transcript.matchAll(/`([^`]+)`/gu), ([, part = '']) => part.trim())
  const named = quoted.find((part) => part.includes('.') && (part.endsWith(sourceExtension) || part.includes('/')))
  if (named !== undefined) return named
  if (activeFile !== undefined && /\b(?:this file|edit this|fix this)\b/iu.test(transcript)) return activeFile
  const after = words.flatMap((word, i) => (['file', 'path', 'in'].includes(bare(word)) ? [words[i + 1] ?? ''] : []))
  return after.map((word) => word.replace(/^["'`]+|["'`,;:!?]+$|\.$/gu, '')).find((word) => /[./]/u.test(word))
}

/** The name after a word such as `function`, without words between such as `called`. */
function symbolName(words: readonly string[]): string | undefined {
  for (const [i, word] of words.entries())
    if (['function', 'fn', 'called', 'named'].includes(bare(word))) {
      const name = nameAfter(words, i)
      if (name !== undefined) return name
    }
  return undefined
}

function codeTarget(words: readonly string[], {symbolStack, cursorLine}: EditorContext): CodeTarget | undefined {
  const spoken = words.map(bare)
  const isAtCursor = spoken.includes('this')
  const at = spoken.findIndex((word) => kinds[word] !== undefined && (isAtCursor || kinds[word] !== 'module'))
  const kind = kinds[spoken[at] ?? '']
  if (kind === undefined) return undefined
  const name = isAtCursor ? symbolStack[0] : nameAfter(words, at)
  if (isAtCursor) return {node_kind: kind, ...named(name), at_cursor: cursorLine !== undefined}
  return name === undefined ? undefined : {node_kind: kind, symbol_name: name, at_cursor: false}
}

const named = (name: string | undefined) => (name === undefined ? {} : {symbol_name: name})

/** The next word that is a name, without connecting words. */
function nameAfter(words: readonly string[], at: number): string | undefined {
  const next = words.slice(at + 1).find((word) => !connectors.includes(bare(word)))
  const name = next && unquoted(next)
  return name !== undefined && /^[\p{L}\p{N}_]+$/u.test(name) ? name : undefined
}

/** The word without quotes and punctuation around it. */
const unquoted = (word: string) => word.replace(/^[`'"]+|[,.'"`;:!?]+$/gu, '')

const bare = (word: string) => unquoted(word.toLowerCase())

/** What is missing to act on an intent, and a question for it. */
export function slotGaps(intent: Intent, {target_path: path, symbol_name: symbol}: Slots): SlotGap[] {
  const isOpen = path === undefined && symbol === undefined
  if (intent === 'code_create' || intent === 'code_edit') return isOpen ? ['target_path_or_symbol'] : []
  if (intent === 'run_check') return path === undefined ? ['test_scope'] : []
  return intent === 'explain_code' && isOpen ? ['explain_focus'] : []
}

export const gapQuestions: Readonly<Record<SlotGap, string>> = {
  target_path_or_symbol: 'Which file or function do you mean?',
  test_scope: 'Which tests should run?',
  explain_focus: 'Which file or function should be explained?',
}
