import {oneLine} from '../errors/index.js'
import type {Question} from '../tasks/index.js'
import {formatTable, type TableView, wrapped} from './table.js'

export const formatQuestions = (questions: readonly Question[], view?: TableView): string =>
  formatTable(
    ['QUESTION', 'SESSION', 'TASK', wrapped('ANSWER'), wrapped('PROMPT')],
    questions.map(({question_id, session_id, task_id, answer, prompt, options}) => [
      question_id,
      oneLine(session_id),
      task_id === undefined ? '-' : `T-${String(task_id).padStart(4, '0')}`,
      answer === undefined ? choices(options) : oneLine(answer),
      oneLine(prompt),
    ]),
    view,
    'No questions.',
  )

/** The possible answers: `json|yaml|...`, where `...` stands for any text. */
const choices = (options: Question['options']): string =>
  options.length === 0
    ? '...'
    : options.map(({option_id, is_other}) => (is_other ? `${oneLine(option_id)}|...` : oneLine(option_id))).join('|')
