import {type ManifestEntry, type Task, type TaskPhase, type TranscriptEntry, taskPhases} from '../../tasks/index.js'

/** What the model is asked for in each phase. */
const instructions: Readonly<Record<TaskPhase, string>> = {
  inspect: 'Say what the task asks for, what is given, and what is still unknown.',
  localize: 'Name the places that the task is about: files, functions, facts or parts of the text.',
  hypothesize: 'Say how the task can be done, and what could go wrong.',
  act: 'Do the task. Write its result in full, and nothing else.',
  verify: 'Check the result against the task. Name every fault, or say that there is none.',
  decide: 'Say in one sentence whether the task is done, and if not, what is missing.',
}

/**
 * Bytes of UTF-8 for which a token is reckoned, where no tokenizer is at hand. Tokenizers of current models take four or
 * more of English and about three of code; a character of Chinese or Japanese has three. So the estimate is high.
 */
const bytesPerToken = 3
/** Of the chat template of a model, tokens. */
const templateTokens = 64

export interface PhaseBudget {
  /** Of the prompt of a phase, with the role of the model; bytes of UTF-8. */
  promptBytes: number
  /** Most tokens of its answer. */
  answerTokens: number
}

/** What of a model's context a question may take, and what its answer: the answer gets what is asked for, half at most. */
export function phaseBudget(contextLength: number, maxTokens: number): PhaseBudget {
  const answerTokens = Math.min(maxTokens, Math.floor(contextLength / 2))
  return {promptBytes: Math.max(0, contextLength - answerTokens - templateTokens) * bytesPerToken, answerTokens}
}

/** Files that are named at most. */
const mostFiles = 100
const transcriptEntries = 3

export type Answers = Readonly<Partial<Record<TaskPhase, string>>>

type Subject = Pick<Task, 'display_id' | 'category' | 'description' | 'file_manifest' | 'transcript'>

/** The role of the model, the same in every phase. */
export const systemPrompt = 'You work through one task in several steps. Do only the step that is asked for.'

/**
 * What the model reads in one phase: the task, its files, what was said before, and what is asked for now. The task gets
 * half of the room at most, its files and what was said an eighth each, and earlier answers all that is left.
 */
export function phasePrompt(phase: TaskPhase, task: Subject, answers: Answers, promptBytes: number): string {
  const step = `Step ${phase}:\n${instructions[phase]}`
  const room = Math.max(0, promptBytes - byteLength(systemPrompt + step))
  const head = [
    `Task ${task.display_id} (${task.category}):\n${cut(task.description, Math.floor(room / 2))}`,
    files(task.file_manifest, Math.floor(room / 8)),
    transcript(task.transcript, Math.floor(room / 8)),
  ]
  const left = room - byteLength(head.join('')) - separatorBytes
  const sections = [...head, ...earlier(answers, Math.max(0, left)), step]
  return sections.filter((section) => section !== '').join('\n\n')
}

/** Of what stands between and above the sections of a prompt, whichever there are. */
const separatorBytes = 256

const byteLength = (text: string): number => Buffer.byteLength(text)

function files(manifest: readonly ManifestEntry[], room: number): string {
  if (manifest.length === 0) return ''
  const lines = manifest.slice(0, mostFiles).map(({access, path}) => `- ${access} ${path}`)
  while (lines.length > 0 && byteLength(lines.join('\n')) > room) lines.pop()
  const rest = manifest.length - lines.length
  return ['Files:', ...lines, ...(rest > 0 ? [`- and ${rest} more`] : [])].join('\n')
}

function transcript(entries: readonly TranscriptEntry[], room: number): string {
  if (entries.length === 0) return ''
  const lines = entries
    .slice(-transcriptEntries)
    .map(({agent_name, message}) => `- ${agent_name}: ${cut(message, Math.floor(room / transcriptEntries))}`)
  return ['Said before:', ...lines].join('\n')
}

/** Answers in the order of their phases; a short one leaves its room to the long ones. */
function earlier(answers: Answers, budget: number): string[] {
  const given = taskPhases.flatMap((phase) => (answers[phase] ? [{phase, answer: answers[phase]}] : []))
  const room = fairShare(
    given.map(({answer}) => byteLength(answer)),
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

/** The beginning of a text, so many bytes, with a mark where something is missing; never half a character. */
export function cut(text: string, most: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= most) return text
  let end = most
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return `${bytes.subarray(0, end)} [...]`
}
