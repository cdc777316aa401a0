import {join} from 'node:path'
import {median, round, timeProcess} from '../../src/bench/measure.js'
import {packageRoot} from '../../src/files/index.js'
import {openHelp} from '../../src/help/index.js'
import {judge, questions, share} from '../help/evaluate.js'

const rounds = 11

/**
 * Answers of `svc ask` without a model to questions that were written apart from its index: shares of all questions about svc,
 * and of those about something else that are refused. Also the time of the command, divided by that of `node -e 0`.
 */
export async function ask() {
  const help = await openHelp()
  const judged = await Promise.all(questions.map((question) => judge(help, question)))
  const foreign = judged.filter(({from}) => from === 'foreign')
  const own = judged.filter(({from}) => from !== 'foreign')
  const options = {cwd: packageRoot, env: process.env, signal: new AbortController().signal}
  const ratios: number[] = []
  for (let i = 0; i < rounds; i++) {
    const bare = await timeProcess(process.execPath, ['-e', '0'], options)
    const words = [join(packageRoot, 'bin/svc.js'), 'ask', 'transcribe a recording']
    const answered = await timeProcess(process.execPath, words, options)
    ratios.push(answered / bare)
  }
  return {
    questions: own.length,
    page_among_the_first_three: round(
      share(own, ({isPageFound}) => isPageFound),
      3,
    ),
    first_passage_right: round(
      share(own, ({isRight}) => isRight),
      3,
    ),
    confidently_wrong: round(
      share(own, ({isWrong}) => isWrong),
      3,
    ),
    not_answered: round(
      share(own, ({passages}) => passages.length === 0),
      3,
    ),
    foreign_questions: foreign.length,
    foreign_refused: round(
      share(foreign, ({isRight}) => isRight),
      3,
    ),
    time_ratio: round(median(ratios), 2),
  }
}
