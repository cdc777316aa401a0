import {readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'

/** The state of the user's editor: the context of spoken commands. */
export interface EditorContext {
  readonly activeFile?: string | undefined
  /** Line of the cursor, from 1. */
  readonly cursorLine?: number | undefined
  readonly recentErrors: readonly string[]
  /** Function or type at the cursor, then those around it. */
  readonly symbolStack: readonly string[]
}

export const noEditor: EditorContext = {recentErrors: [], symbolStack: []}

/** Age after which the editor's file no longer counts, ms. */
const maxAgeMs = 300_000
/** Maximum size of the editor's file, bytes. */
const maxBytes = 1 << 20
/** Maximum number of errors and of symbols. */
const maxItems = 16

/**
 * Reads `.svc/ide_state.json`, which an editor writes; an older or invalid file counts as none. The settings of this
 * process, such as `SVC_ACTIVE_FILE`, take precedence.
 */
export async function readEditorContext(
  root: string,
  settings: {activeFile?: string | undefined; activeLine?: number | undefined; activeSymbol?: string | undefined},
  now: number = Date.now(),
): Promise<EditorContext> {
  const written = await readState(join(root, '.svc', 'ide_state.json'), now)
  const {activeFile = written.activeFile, activeLine = written.cursorLine, activeSymbol} = settings
  const symbols = activeSymbol === undefined ? [] : [activeSymbol]
  return {
    activeFile,
    cursorLine: activeLine,
    recentErrors: written.recentErrors,
    symbolStack: [...new Set([...symbols, ...written.symbolStack])],
  }
}

async function readState(path: string, now: number): Promise<EditorContext> {
  try {
    const {mtimeMs, size} = await stat(path)
    if (now - mtimeMs > maxAgeMs || size > maxBytes) return noEditor
    const state: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (typeof state !== 'object' || state === null) return noEditor
    const {active_file: file, cursor_line: line, recent_errors: errors, symbol_stack: symbols} = state as State
    return {
      activeFile: typeof file === 'string' && file !== '' ? file : undefined,
      cursorLine: Number.isSafeInteger(line) && (line as number) > 0 ? (line as number) : undefined,
      recentErrors: texts(errors),
      symbolStack: texts(symbols),
    }
  } catch {
    return noEditor
  }
}

type State = Partial<Record<'active_file' | 'cursor_line' | 'recent_errors' | 'symbol_stack', unknown>>

const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string').slice(0, maxItems) : []
