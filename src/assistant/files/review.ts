import type {Assistant} from '../assistant.js'
import {fenced} from '../fences.js'
import {askAboutFile, type Call, type Generated} from './generate-text.js'
import {readWorkspaceText} from './read-text.js'

export interface ReviewRequest {
  /** File of the workspace. */
  path: string
  /** Change of the file to review; default: the whole file. */
  diff?: string | undefined
}

const reviewer =
  'You review code. List the defects of the given file or change, the most severe first, each with its line and a fix. ' +
  'Do not repeat the code. If there are no defects, say so in one sentence.'

/**
 * Reviews a file, or a change of it, with a model.
 * @throws path_denied, file_not_found, file_unreadable; answer_empty; errors of the model call; the abort reason of the
 *   signal
 */
export async function reviewFile(
  assistant: Assistant,
  {path, diff}: ReviewRequest,
  call: Call,
  signal: AbortSignal,
): Promise<Generated> {
  const text = await readWorkspaceText(assistant.root, path)
  const change = diff === undefined ? '' : `\n\nReview only this change of it:\n\n${fenced(diff)}`
  const messages = [
    {role: 'system', content: reviewer},
    {role: 'user', content: `The file ${path}:\n\n${fenced(text)}${change}`},
  ] as const
  return askAboutFile(assistant, messages, {surface: 'review_file', category: 'general', ...call}, signal)
}
