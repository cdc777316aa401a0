import {SvcError} from '../../errors/index.js'

const display = (letter: string, digits: number) => (id: number) => `${letter}-${String(id).padStart(digits, '0')}`

/** `T-0042` */
export const displayTask = display('T', 4)
/** `A-03` */
export const displayAgent = display('A', 2)
/** `Q-0007` */
export const displayQuestion = display('Q', 4)

/** Parses `42` or `T-0042`. @throws usage */
export const parseTaskId = (text: string): number => parseId(text, 'T', 'task')
/** Parses `7` or `Q-0007`. */
export const matchQuestionId = (text: string): number | undefined => matchId(text, 'Q')

const questionPrefix = 'question:'

/** The status reason of a task that waits for the answer to a question: `question:Q-0007`. */
export const questionReason = (question: string): string => `${questionPrefix}${question}`

/** The question that a task with this status reason waits for. */
export const questionOfReason = (reason: string | null): string | undefined =>
  reason?.startsWith(questionPrefix) ? reason.slice(questionPrefix.length) : undefined

/** Parses `7` or `A-07` for the letter A; undefined if the text is not an id: agents, for one, also have names. */
export function matchId(text: string, letter: 'A' | 'OP' | 'Q' | 'T'): number | undefined {
  const digits = new RegExp(`^(?:${letter}-)?0*([1-9]\\d{0,14})$`, 'i').exec(text.trim())?.[1]
  return digits === undefined ? undefined : Number(digits)
}

function parseId(text: string, letter: 'T', what: string): number {
  const id = matchId(text, letter)
  if (id !== undefined) return id
  throw new SvcError('usage', {
    reason: `${JSON.stringify(text)} is not a ${what} id. Expected a form such as 42 or ${letter}-0042.`,
  })
}
