import {lstat, realpath, rename, rm, writeFile} from 'node:fs/promises'
import {basename, dirname, join, sep} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {wordsOf} from './drafting/clauses.js'
import type {Plan, PlanStep} from './view.js'

/** Where a plan is written for people, at the root of the workspace. */
export const planFile = 'PLAN.md'

const marks: Partial<Record<PlanStep['status'], string>> = {completed: 'x'}

/** A plan as Markdown: its goal, and a list of steps to be ticked off. */
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
 * The file that the plan of a workspace is written to. A link is followed inside of the workspace, and nowhere else.
 * @throws plan_file_escapes
 */
export async function findPlanFile(root: string): Promise<string> {
  const path = join(root, planFile)
  const found = await lstat(path).catch(() => undefined)
  if (found === undefined || !found.isSymbolicLink()) return path
  const [base, target] = await Promise.all([realpath(root), realpath(path).catch(() => '')])
  if (!target.startsWith(base + sep)) throw new SvcError('plan_file_escapes', {path})
  return target
}

/**
 * Writes the whole file or none: it appears under its name when it is complete.
 * @throws disk_full, file_unreadable, file_not_found
 */
export async function writePlanFile(path: string, text: string): Promise<void> {
  const partial = join(dirname(path), `.${basename(path)}.${process.pid}.new`)
  try {
    await rm(partial, {force: true})
    // What somebody put in its place meanwhile is not written through.
    await writeFile(partial, text, {flag: 'wx'})
    await rename(partial, path)
  } catch (error) {
    await rm(partial, {force: true}).catch(() => undefined)
    throw SvcError.from(Object.assign(error as Error, {path}))
  }
}
