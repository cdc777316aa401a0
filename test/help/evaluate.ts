/** Answers questions about svc and judges the answers. */
import {readFileSync} from 'node:fs'
import {isErrorOf} from '../../src/errors/index.js'
import type {FoundPassage, Help} from '../../src/help/index.js'
import {projectFile} from '../support/project.js'

export interface Question {
  question: string
  from: 'newcomer' | 'daily' | 'foreign'
  /** Places with a right answer: `docs/PAGE.md`, `help:COMMAND`, `error:CODE`, `setting:NAME`. */
  pages: string[]
  /** Words that a right answer has. */
  must: string[]
  /** Words that only a wrong answer has. */
  mustNot: string[]
  command: string | null
}

export interface Judged extends Question {
  /** The passages that were found, none if the question was refused. */
  passages: FoundPassage[]
  /** One of the passages is from a right place. */
  isPageFound: boolean
  /** The first passage has all words of a right answer and none of a wrong one. */
  isRight: boolean
  /** The first passage has a word of a wrong answer, or answers a question about something else. */
  isWrong: boolean
}

const read = (name: string): readonly Question[] => JSON.parse(readFileSync(projectFile(`test/help/${name}`), 'utf8'))

/** The questions that the search is tuned with. */
export const questions = read('questions.json')

/** Questions that were written from the guides alone. The search is never tuned with them. */
export const heldOut = read('held-out.json')

/** Questions about sections of the guides that were chosen at random, written before any of them was asked. The search is never tuned with them. */
export const fresh = read('fresh.json')

export async function judge(help: Help, question: Question): Promise<Judged> {
  const passages = await answersTo(help, question.question)
  const [first] = passages
  const isForeign = question.from === 'foreign'
  const text = (first === undefined ? '' : `${first.page} ${first.headings.join(' ')} ${first.text}`).toLowerCase()
  const has = (words: readonly string[]) =>
    words.filter((word) => text.replaceAll(/\s+/g, ' ').includes(word.toLowerCase()))
  const forbidden = has(question.mustNot).length > 0
  return {
    ...question,
    passages,
    isPageFound: passages.some((passage) => question.pages.some((place) => isAt(passage, place))),
    isRight: isForeign ? first === undefined : has(question.must).length === question.must.length && !forbidden,
    isWrong: isForeign ? first !== undefined : forbidden,
  }
}

async function answersTo(help: Help, question: string): Promise<FoundPassage[]> {
  try {
    return await help.passagesFor(question)
  } catch (error) {
    if (isErrorOf(error, 'question_unknown')) return []
    throw error
  }
}

function isAt({page, headings}: FoundPassage, place: string): boolean {
  if (place.startsWith('help:')) return page === `svc ${place.slice('help:'.length)} --help`
  if (place.startsWith('error:')) return page === `svc explain ${place.slice('error:'.length)}`
  if (place.startsWith('setting:'))
    return headings.some((heading) => heading.includes(`\`${place.slice('setting:'.length)}\``))
  return page === place
}

/** Share of questions for which something holds. */
export const share = (judged: readonly Judged[], holds: (one: Judged) => boolean): number =>
  judged.filter(holds).length / judged.length
