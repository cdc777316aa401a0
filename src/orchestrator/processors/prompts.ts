import type {ManifestEntry, Task, TranscriptEntry} from '../tasks/task.js'
import {type TaskPhase, taskPhases} from '../vocabulary.js'

/** What the model is asked for in each phase. */
const instructions: Readonly<Record<TaskPhase, string>> = {
  inspect: 'Say what the task asks for, what is given, and what is still unknown.',
  localize: 'Name the places that the task is about: files, functions, facts or parts of the text.',
  hypothesize: 'Say how the task can be done, and what could go wrong.',
  act: 'Do the task. Write its result in full, and nothing else.',
  verify: 'Check the result against the task. Name every fault, or say that there is none.',
  decide: 'Say in one sentence whether the task is done, and if not, what is missing.',
}

/** Text that goes into a prompt besides the task itself, characters. */
export interface PromptBudget {
  /** All answers of earlier phases together. */
  answers: number
  /** One entry of the transcript. */
  transcriptEntry: number
  /** Files that are named. */
  files: number
}

export const defaultPromptBudget: PromptBudget = {answers: 6000, transcriptEntry: 1000, files: 100}

const transcriptEntries = 3

export type Answers = Readonly<Partial<Record<TaskPhase, string>>>

type Subject = Pick<Task, 'display_id' | 'category' | 'description' | 'file_manifest' | 'transcript'>

/** The role of the model, the same in every phase. */
export const systemPrompt = 'You work through one task in several steps. Do only the step that is asked for.'

/** What the model reads in one phase: the task, its files, what was said before, and what is asked for now. */
export function phasePrompt(
  phase: TaskPhase,
  task: Subject,
  answers: Answers,
  budget: PromptBudget = defaultPromptBudget,
): string {
  const sections = [
    `Task ${task.display_id} (${task.category}):\n${task.description}`,
    files(task.file_manifest, budget.files),
    transcript(task.transcript, budget.transcriptEntry),
    ...earlier(answers, budget.answers),
    `Step ${phase}:\n${instructions[phase]}`,
  ]
  return sections.filter((section) => section !== '').join('\n\n')
}

function files(manifest: readonly ManifestEntry[], most: number): string {
  if (manifest.length === 0) return ''
  const lines = manifest.slice(0, most).map(({access, path}) => `- ${access} ${path}`)
  const rest = manifest.length - lines.length
  return ['Files:', ...lines, ...(rest > 0 ? [`- and ${rest} more`] : [])].join('\n')
}

function transcript(entries: readonly TranscriptEntry[], mostCharacters: number): string {
  if (entries.length === 0) return ''
  const lines = entries
    .slice(-transcriptEntries)
    .map(({agent_name, message}) => `- ${agent_name}: ${cut(message, mostCharacters)}`)
  return ['Said before:', ...lines].join('\n')
}

/** Answers in the order of their phases; a short one leaves its room to the long ones. */
function earlier(answers: Answers, budget: number): string[] {
  const given = taskPhases.flatMap((phase) => (answers[phase] ? [{phase, answer: answers[phase]}] : []))
  const room = fairShare(
    given.map(({answer}) => answer.length),
    budget,
  )
  return given.map(({phase, answer}) => `Your answer in step ${phase}:\n${cut(answer, room)}`)
}

/** The most that each may have so that all together keep to the budget. */
function fairShare(lengths: readonly number[], budget: number): number {
  let left = budget
  for (const [i, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (lengths.length - i))
    if (length > share) return share
    left -= length
  }
  return budget
}

/** The beginning of a text, with a mark where something is missing; never half a character. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')} [...]`
}
