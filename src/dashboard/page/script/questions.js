/** Questions of agents to the person at the page. */
import {button} from '../../../pages/parts/blocks.js'
import {ask} from '../../../pages/parts/dialog.js'
import {element, setText} from '../../../pages/parts/elements.js'
import {addressOf} from '../../../pages/parts/router.js'
import {tableRow} from '../../../pages/parts/rows.js'
import {pagedView} from './list-view.js'
import {call, canCall, inputOf} from './operations.js'

const columns = {Question: 'id main', Task: 'fit', Session: '', '': 'acts'}

export const questionsView = (_route, {showFault}) =>
  pagedView({
    title: 'Questions',
    columns,
    load: async (after, limit) =>
      (await call('orch.questions.pending', {limit, ...(after === undefined ? {} : {after_id: `Q-${-after}`})}))
        .questions,
    // The oldest question is first.
    keyOf: ({question_id: id}) => -Number(id.slice(2)),
    make: questionRow,
    empty: ['No questions wait for an answer.'],
    concerns: ({types}) => types.some((type) => type.startsWith('question_') || type.startsWith('task_')),
    showFault,
  })

function questionRow(question) {
  const row = tableRow(columns)
  const [prompt, task, session, acts] = row.contents
  const {question_id: id, task_id: taskId} = question
  setText(prompt, question.prompt)
  setText(session, question.session_id)
  row.mark(1, taskId === undefined)
  if (taskId !== undefined)
    task.append(element('a', {href: addressOf(['tasks', String(taskId)])}, `T-${String(taskId).padStart(4, '0')}`))
  if (canCall('orch.questions.answer')) {
    const answer = button('Answer', () => askAnswer(question), 'primary')
    answer.ariaLabel = `Answer ${id}`
    acts.append(answer)
  }
  return {element: row.element, update: () => undefined}
}

function askAnswer({question_id: id, prompt, options}) {
  const labels = options.map(({label}) => label)
  const isFixed = labels.length > 0 && !options.some(({is_other: isOther}) => isOther)
  const {answer} = inputOf('orch.questions.answer').properties
  ask({
    title: prompt,
    text: isFixed || labels.length === 0 ? '' : `Suggested answers: ${labels.join(', ')}`,
    verb: 'Answer',
    schema: {properties: {answer: isFixed ? {enum: labels} : answer}, required: ['answer']},
    perform: (values) => call('orch.questions.answer', {question_id: id, ...values}),
    done: `${id} was answered.`,
  })
}
