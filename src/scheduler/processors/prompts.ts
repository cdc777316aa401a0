import type {ManifestEntry} from '../../contracts/index.js'
import type {Task} from '../../tasks/index.js'
import {type TaskPhase, taskPhases} from '../../workspace/index.js'

/** The instructions of each phase. */
const instructions: Readonly<Record<TaskPhase, string>> = {
  inspect: 'Say what the task asks for, what is given, and what is still unknown.',
  localize: 'Name the places that the task is about: files, functions, facts or parts of the text.',
  hypothesize: 'Say how the task can be done, and what could go wrong.',
  act: 'Do the task. Write its result in full, and nothing else.',
  verify: 'Check the result against the task. Name every fault, or say that there is none.',
  decide: 'Say in one sentence whether the task is done, and if not, what is missing.',
}

/**
 * Assumed UTF-8 bytes per token if no tokenizer is available. Tokenizers of current models average four or more for
 * English and about three for code; a Chinese or Japanese character has three. The estimate is conservative.
 */
const bytesPerToken = 3
/** Tokens of a model's chat template. */
const templateTokens = 64

export interface PhaseBudget {
  /** Size of a phase's prompt including the system prompt, in bytes of UTF-8. */
  promptBytes: number
  /** Maximum length of the answer in tokens. */
  answerTokens: number
}

/** Splits a model's context between prompt and answer; the answer gets the requested length, at most half. */
export function phaseBudget(contextLength: number, maxTokens: number): PhaseBudget {
  const answerTokens = Math.min(maxTokens, Math.floor(contextLength / 2))
  return {promptBytes: Math.max(0, contextLength - answerTokens - templateTokens) * bytesPerToken, answerTokens}
}

/** Maximum number of files in a prompt. */
const maxFiles = 100
const transcriptEntries = 3

/** What a prompt contains in addition to its task. */
export interface Known {
  answers: Answers
  /** Facts about the workspace; may be empty. */
  memory: string
}

export type Answers = Readonly<Partial<Record<TaskPhase, string>>>

type Subject = Pick<Task, 'display_id' | 'category' | 'description' | 'file_manifest' | 'transcript'>

/** The system prompt, the same in every phase. */
export const systemPrompt = 'You work through one task in several steps. Do only the step that is asked for.'

/**
 * The prompt of a phase: the memory, the task, its files, the transcript, and the instructions. The task gets at most half
 * of the budget, memory, files and transcript an eighth each, and earlier answers the rest.
 */
export function phasePrompt(phase: TaskPhase, task: Subject, {answers, memory}: Known, promptBytes: number): string {
  const step = `Step ${phase}:\n${instructions[phase]}`
  const room = Math.max(0, promptBytes - byteLength(systemPrompt + step))
  const head = [
    memory === '' ? '' : `Known about this workspace:\n${cut(memory, Math.floor(room / 8))}`,
    `Task ${task.display_id} (${task.category}):\n${cut(task.description, Math.floor(room / 2))}`,
    files(task.file_manifest, Math.floor(room / 8)),
    transcript(task.transcript, Math.floor(room / 8)),
  ]
  const left = room - byteLength(head.join('')) - separatorBytes
  const sections = [...head, ...earlier(answers, Math.max(0, left)), step]
  return sections.filter((section) => section !== '').join('\n\n')
}

/** Upper bound for the headings and separators of a prompt, in bytes. */
const separatorBytes = 256

const byteLength = (text: string): number => Buffer.byteLength(text)

function files(manifest: readonly ManifestEntry[], room: number): string {
  if (manifest.length === 0) return ''
  const lines = manifest.slice(0, maxFiles).map(({access, path}) => `- ${access} ${path}`)
  while (lines.length > 0 && byteLength(lines.join('\n')) > room) lines.pop()
  const rest = manifest.length - lines.length
  return ['Files:', ...lines, ...(rest > 0 ? [`- and ${rest} more`] : [])].join('\n')
}

function transcript(entries: Task['transcript'], room: number): string {
  if (entries.length === 0) return ''
  const lines = entries
    .slice(-transcriptEntries)
    .map(({agent_name, message}) => `- ${agent_name}: ${cut(message, Math.floor(room / transcriptEntries))}`)
  return ['Said before:', ...lines].join('\n')
}

/** Earlier answers in phase order; short answers leave their share to long ones. */
function earlier(answers: Answers, budget: number): string[] {
  const answered = taskPhases.flatMap((phase) => (answers[phase] ? [{phase, answer: answers[phase]}] : []))
  const room = fairShare(
    answered.map(({answer}) => byteLength(answer)),
    budget,
  )
  return answered.map(({phase, answer}) => `Your answer in step ${phase}:\n${cut(answer, room)}`)
}

/** The largest equal limit for which all lengths together stay within the budget. */
function fairShare(lengths: readonly number[], budget: number): number {
  let left = budget
  for (const [i, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (lengths.length - i))
    if (length > share) return share
    left -= length
  }
  return budget
}

/** Truncates a text to a number of bytes, with a mark; never cuts inside a character. */
export function cut(text: string, max: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= max) return text
  let end = max
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return `${bytes.subarray(0, end)} [...]`
}
