import {SvcError} from '../errors/index.js'
import type {Ask} from '../inference-client/index.js'
import {commandsIn, withoutUnknownCommands} from './commands-in.js'
import {excerptFor} from './excerpt.js'
import {type HelpIndex, readIndex} from './index-file.js'
import {type Commands, readCommands} from './manifest.js'
import {type FoundPassage, Library} from './passages.js'
import {namesProduct, search} from './search.js'
import {writtenBy} from './write-answer.js'

/** An answer that a model has written from passages. */
export interface WrittenAnswer {
  text: string
  /** Commands that the model had invented. In the text, each is replaced. */
  removed: string[]
}

/** Maximum number of passages. */
const maxMatches = 3

/** Lines of the best passage of a page, and of others of the page. */
const lines = {best: 20, other: 8}

/** Coverage of the best passage below which it is about something else. */
const minCoverage = 0.5
/** The same if the question names another product. */
const minCoverageOfProduct = 0.85
/** Score of the best passage below which it is about something else. */
const minScore = 4.5

/** Opens the documentation for questions. Pages are read when they are first needed. */
export async function openHelp(): Promise<Help> {
  const [index, commands] = await Promise.all([readIndex(), readCommands()])
  return new Help(index, commands)
}

/** The documentation of this version of svc. */
export class Help {
  readonly #index
  readonly #commands
  readonly #library

  constructor(index: HelpIndex, commands: Commands) {
    this.#index = index
    this.#commands = commands
    this.#library = new Library(commands)
  }

  /**
   * Finds the passages that answer a question, the best first, from different pages.
   * @throws question_unknown if nothing in the documentation fits
   */
  async passagesFor(question: string): Promise<FoundPassage[]> {
    const {matches, values} = search(this.#index, question)
    const best = matches.slice(0, maxMatches)
    const wanted = namesProduct(question) ? minCoverageOfProduct : minCoverage
    if (!best.some(({coverage, score}) => coverage >= wanted && score >= minScore))
      throw new SvcError('question_unknown', {})
    return Promise.all(
      best.map(async ({place, more, score}) => {
        const {page, headings, text} = await this.#library.passageAt(place)
        const others = await Promise.all(more.map((each) => this.#library.passageAt(each)))
        const answer = [
          excerptFor(values, text, lines.best),
          ...others.map((other) => `## ${other.headings.at(-1)}\n\n${excerptFor(values, other.text, lines.other)}`),
        ].join('\n\n')
        return {page, headings, text: answer, commands: commandsIn(this.#commands, answer), score}
      }),
    )
  }

  /**
   * Lets a model answer a question from passages, and removes commands that do not exist.
   * @returns undefined if the model says that the passages do not answer it
   * @throws what `ask` throws
   */
  async written(
    ask: Ask,
    question: string,
    passages: readonly FoundPassage[],
    signal: AbortSignal,
  ): Promise<WrittenAnswer | undefined> {
    const reply = await writtenBy(ask, question, passages, signal)
    return reply === undefined ? undefined : withoutUnknownCommands(this.#commands, reply)
  }
}
