import {SvcError} from '../../errors/index.js'
import {containedOutput, writeFileAtomic} from '../../files/index.js'
import type {Finding} from '../../tasks/index.js'
import type {Assistant} from '../assistant.js'
import {fenced, fencedBlocks} from '../fences.js'
import {checkText, isFault} from './check-text.js'
import {askAboutFile, type Call} from './generate-text.js'
import {readWorkspaceText} from './read-text.js'

export interface FixRequest {
  /** File of the workspace, relative to its root. */
  path: string
  /** What is wrong with the file, besides the findings of its check. */
  error?: string | undefined
  /** Replace the file if the fix has no errors; otherwise, the fix is only returned. */
  write: boolean
}

export interface Fix {
  path: string
  /** The fix differs from the file, and its check finds no errors. */
  fixed: boolean
  written: boolean
  /** The complete file as the model would have it. */
  content: string
  /** Findings in the fix. */
  findings: Finding[]
  model: string
}

const fixer =
  'You fix files. Answer with the complete corrected file in one fenced code block, and nothing else. Change only what is ' +
  'necessary.'

/**
 * Fixes a file with a model, and checks the result. The file is replaced only on request, and only by a fix without
 * errors.
 * @throws path_denied, output_exists, file_not_found, file_unreadable; fix_unusable if the answer is not one complete
 *   file; answer_empty; errors of the model call; the abort reason of the signal
 */
export async function fixFile(
  assistant: Assistant,
  {path, error, write}: FixRequest,
  call: Call,
  signal: AbortSignal,
): Promise<Fix> {
  const {root} = assistant
  const target = await containedOutput(root, path)
  const text = await readWorkspaceText(root, path)
  const before = await checkText(path, text, 'all')
  const problems = [
    ...(error === undefined ? [] : [error]),
    ...before.map(({line, rule, message}) => `line ${line ?? 1}: ${message} (${rule})`),
  ]
  const messages = [
    {role: 'system', content: fixer},
    {role: 'user', content: `The file ${path}:\n\n${fenced(text)}\n\nProblems:\n${problems.join('\n') || 'unknown'}`},
  ] as const
  const answer = await askAboutFile(assistant, messages, {surface: 'fix_file', category: 'codegen', ...call}, signal)
  const content = contentOf(answer.text, answer.model)
  const findings = await checkText(path, content, 'all')
  const fixed = content !== text && !findings.some(isFault)
  signal.throwIfAborted()
  if (write && fixed) await writeFileAtomic(target, content)
  return {path, fixed, written: write && fixed, content, findings, model: answer.model}
}

/** The file in the only fenced block of an answer. @throws fix_unusable */
function contentOf(answer: string, model: string): string {
  const [block, ...more] = fencedBlocks(answer)
  const reason =
    block === undefined
      ? 'it has no fenced block'
      : more.length > 0
        ? `it has ${more.length + 1} fenced blocks`
        : block.isClosed
          ? undefined
          : 'its fenced block is not closed'
  if (block === undefined || reason !== undefined) throw new SvcError('fix_unusable', {model, reason: reason ?? ''})
  return `${block.content}\n`
}
