/** A view of one task, run or plan. */
import {element, replaceContent} from '../../../pages/parts/elements.js'
import {createReader} from '../../../pages/parts/reader.js'

/**
 * A view of one object, which is read again after its changes. Its content is only replaced if it differs, so that focus
 * and selection are preserved.
 * @param render returns the elements, and the buttons above them, of what was read
 * @param concerns true if changes concern the object
 */
export function objectView({title, read, render, concerns, showFault}) {
  const content = element('div', {}, element('p', {className: 'quiet'}, 'Loading …'))
  const buttons = element('div', {className: 'actions'})
  let shown
  const {reload, close} = createReader(
    read,
    (value) => {
      showFault()
      const key = JSON.stringify(value)
      if (key === shown) return
      shown = key
      const {elements, actions = []} = render(value)
      replaceContent(content, ...elements.filter((each) => each !== undefined))
      replaceContent(buttons, ...actions)
    },
    {
      onFault(error) {
        showFault(error)
        if (shown === undefined) content.replaceChildren()
      },
    },
  )
  reload()
  return {
    title,
    actions: [buttons],
    elements: [content],
    reload,
    changed: (changes) => concerns(changes) && reload(),
    close,
  }
}
