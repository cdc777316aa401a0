import {join} from 'node:path'
import {median, round, timeProcess} from '../../src/bench/measure.js'
import {packageRoot} from '../../src/files/index.js'
import {type Help, openHelp} from '../../src/help/index.js'
import {fresh, heldOut, type Judged, judge, type Question, questions, share} from '../help/evaluate.js'

const rounds = 11

/**
 * Answers of `svc ask` without a model: shares of the questions about svc, and of those about something else that are refused.
 * The questions that the search is tuned with, those that were held out, and fresh ones are counted apart. Also the time of the command, divided by that of
 * `node -e 0`.
 */
export async function ask() {
  const help = await openHelp()
  const options = {cwd: packageRoot, env: process.env, signal: new AbortController().signal}
  const ratios: number[] = []
  for (let i = 0; i < rounds; i++) {
    const bare = await timeProcess(process.execPath, ['-e', '0'], options)
    const words = [join(packageRoot, 'bin/svc.js'), 'ask', 'transcribe a recording']
    const answered = await timeProcess(process.execPath, words, options)
    ratios.push(answered / bare)
  }
  return {
    tuned: await figuresOf(help, questions),
    held_out: await figuresOf(help, heldOut),
    fresh: await figuresOf(help, fresh),
    time_ratio: round(median(ratios), 2),
  }
}

async function figuresOf(help: Help, asked: readonly Question[]) {
  const judged = await Promise.all(asked.map((question) => judge(help, question)))
  const foreign = judged.filter(({from}) => from === 'foreign')
  const own = judged.filter(({from}) => from !== 'foreign')
  const shareOf = (of: readonly Judged[], holds: (one: Judged) => boolean) => round(share(of, holds), 3)
  return {
    questions: own.length,
    page_among_the_first_three: shareOf(own, ({isPageFound}) => isPageFound),
    first_passage_right: shareOf(own, ({isRight}) => isRight),
    confidently_wrong: shareOf(own, ({isWrong}) => isWrong),
    not_answered: shareOf(own, ({passages}) => passages.length === 0),
    with_a_command: shareOf(own, ({passages: [first]}) => (first?.commands.length ?? 0) > 0),
    foreign_questions: foreign.length,
    foreign_refused: shareOf(foreign, ({isRight}) => isRight),
  }
}
