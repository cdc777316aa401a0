import {lstat} from 'node:fs/promises'
import {join} from 'node:path'
import {SvcError} from '../errors/index.js'
import {containedPath} from '../files/index.js'
import {wordsOf} from './drafting/clauses.js'
import type {Plan, PlanStep} from './view.js'

export {writeFileAtomic as writePlanFile} from '../files/index.js'

/** Name of the human-readable plan at the root of the workspace. */
export const planFile = 'PLAN.md'

const marks: Partial<Record<PlanStep['status'], string>> = {completed: 'x'}

/** Formats a plan as Markdown: its goal and a task list. */
export function planMarkdown({session_id, goal, versions: [{version, steps}]}: Omit<Plan, 'findings'>): string {
  const quoted = goal
    .trim()
    .split(/\r?\n/)
    .map((line) => (line === '' ? '>' : `> ${line}`))
  const list = steps.map((step) => `- [${marks[step.status] ?? ' '}] ${step.id}. ${withFacts(step)}`)
  return [
    '# Plan',
    '',
    ...quoted,
    '',
    `Version ${version} of \`${session_id}\`.`,
    '',
    '## Steps',
    '',
    ...list,
    '',
  ].join('\n')
}

function withFacts({description, depends_on: after, files}: PlanStep): string {
  const facts = [
    ...(after.length === 0 ? [] : [`after ${after.join(', ')}`]),
    ...files.map(({path, access}) => `${access}s \`${path}\``),
  ]
  const text = wordsOf(description).join(' ')
  return facts.length === 0 ? text : `${text} (${facts.join('; ')})`
}

/**
 * The path of the workspace's plan file. A symbolic link is only followed within the workspace.
 * @throws plan_file_escapes
 */
export async function findPlanFile(root: string): Promise<string> {
  const path = join(root, planFile)
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined || !found.isSymbolicLink()) return path
  return containedPath(root, planFile).catch((cause: unknown) => {
    throw new SvcError('plan_file_escapes', {path}, {cause})
  })
}
