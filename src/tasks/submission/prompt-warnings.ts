import {confidencePolicy, promptConfidence, type WorkspaceContext} from '../../workspace/index.js'
import {appendEvent} from '../events/event-log.js'
import {writesOf} from '../locks.js'
import type {NewTask} from './submission.js'

/** Text that tries to override the instructions of an agent. */
const injection =
  /\b(?:ignore|disregard|forget)\s{1,8}(?:(?:all|any|the|your|of)\s{1,8}){0,3}(?:previous|prior|above|earlier|system)\s{1,8}(?:instructions?|prompts?|rules?|messages?)\b/i

/** Start of a sentence that excludes files. */
const exclusion =
  /\b(?:do not|don.t|never|must not|without)\s{1,8}(?:change|changing|modify|modifying|edit|editing|touch|touching|write|writing|delete|deleting)\b([^.;\n]{0,300}(?:\.\w[^.;\n]{0,300}){0,20})/gi

/** What is suspicious about the description of a task. */
export interface PromptWarnings {
  /** It tries to override instructions. */
  hasInjection: boolean
  /** Files that it excludes although the task writes them. */
  conflicts: string[]
}

/** Checks a description against the files that its task writes. @param least minimum confidence, in percent */
export function promptWarnings(description: string, writes: readonly string[], minConfidence: number): PromptWarnings {
  const excluded = [...description.matchAll(exclusion)].map(([, rest = '']) => new Set(rest.split(/[^\w./-]+/)))
  return {
    hasInjection: promptConfidence.injection >= minConfidence && injection.test(description),
    conflicts:
      promptConfidence.conflict < minConfidence
        ? []
        : writes.filter((path) => excluded.some((names) => names.has(path))),
  }
}

/** Records the warnings about a new task. @returns the warnings as sentences */
export function recordPromptWarnings(
  context: WorkspaceContext,
  {description, file_manifest: files}: NewTask,
  {id, agent_id}: {id: number; agent_id: number},
): string[] {
  const {minPromptReportConfidence: minConfidence} = confidencePolicy(context.config.socratesPolicy)
  const writes = writesOf(files).map(({path}) => path)
  const {hasInjection, conflicts} = promptWarnings(description, writes, minConfidence)
  if (hasInjection) appendEvent(context, {type: 'injection_detected', task_id: id, agent_id})
  if (conflicts.length > 0)
    appendEvent(context, {type: 'prompt_conflict_detected', task_id: id, agent_id, paths: conflicts})
  return [
    ...(hasInjection ? ['The description tries to override instructions.'] : []),
    ...conflicts.map((path) => `The description excludes ${path}, which the task writes.`),
  ]
}
