/** Answers to questions about svc, from its documentation. */
import {section, verbatim} from '../../../pages/parts/blocks.js'
import {announce, element} from '../../../pages/parts/elements.js'
import {createReader} from '../../../pages/parts/reader.js'
import {ServerFault} from '../../../pages/parts/request.js'
import {addressOf} from '../../../pages/parts/router.js'
import {call} from './operations.js'

/** A question is part of the address, so that the answer can be linked to. */
export function helpView({query}, {showFault}) {
  const question = query.get('question') ?? ''
  const field = element('input', {type: 'search', name: 'question', value: question, maxLength: 1000, required: true})
  const form = element(
    'form',
    {className: 'panel filter', role: 'search'},
    element('div', {className: 'field'}, element('label', {}, 'Question about svc', field)),
    element('button', {}, 'Search'),
  )
  const answer = element('div', {})
  form.onsubmit = (event) => {
    event.preventDefault()
    location.hash = addressOf(['help'], {question: field.value})
  }

  const {reload, close} = createReader(
    () => passagesFor(question),
    (passages) => {
      answer.replaceChildren(...passages)
      announce(answer.firstChild?.textContent ?? '')
    },
    {
      onFault(error) {
        answer.replaceChildren()
        showFault(error)
      },
    },
  )
  if (question !== '') {
    answer.append(element('p', {className: 'quiet'}, 'Loading …'))
    reload()
  }
  return {title: 'Help', elements: [form, answer], close}
}

/** Elements of the passages, or the sentence that nothing fits. */
async function passagesFor(question) {
  try {
    const {passages} = await call('svc.ask', {question})
    return passages.map(({page, headings, text}) =>
      section(headings.join(' › '), element('p', {className: 'quiet'}, page), verbatim(text, headings.at(-1))),
    )
  } catch (error) {
    if (error instanceof ServerFault && error.code === 'question_unknown')
      return [element('p', {className: 'lead'}, error.message)]
    throw error
  }
}
