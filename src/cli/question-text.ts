import {oneLine} from '../errors/index.js'
import type {Question} from '../tasks/index.js'
import {formatTable} from './table.js'

export const formatQuestions = (questions: readonly Question[]): string =>
  questions.length === 0
    ? 'No questions.\n'
    : formatTable(
        ['QUESTION', 'SESSION', 'TASK', 'ANSWER', 'PROMPT'],
        questions.map(({question_id, session_id, task_id, answer, prompt, options}) => [
          question_id,
          oneLine(session_id),
          task_id === undefined ? '-' : `T-${String(task_id).padStart(4, '0')}`,
          answer === undefined ? choices(options) : oneLine(answer),
          oneLine(prompt),
        ]),
      )

/** The possible answers: `json|yaml|...`, where `...` stands for any text. */
const choices = (options: Question['options']): string =>
  options.length === 0
    ? '...'
    : options.map(({option_id, is_other}) => (is_other ? `${oneLine(option_id)}|...` : oneLine(option_id))).join('|')
