/** Dialog that asks for a confirmation, and for values, before something is changed. */
import {element, setText, toast} from './elements.js'
import {createFields} from './form.js'

/**
 * Opens the dialog.
 * @param question.title and text, verb of the button, isDangerous
 * @param question.schema schema of values to ask for, and `fields`, the names of its members that are shown,
 *   and `values` at first
 * @param question.perform receives the values; its error is shown in the dialog
 * @param question.done text that is shown after that
 */
export function ask({title, text = '', verb, isDangerous = false, schema, fields, values, perform, done}) {
  const form = schema === undefined ? undefined : createFields(schema, fields, values)
  const fault = element('p', {className: 'fault', role: 'alert'})
  const cancel = element('button', {type: 'button'}, 'Cancel')
  const confirm = element('button', {type: 'submit', className: isDangerous ? 'primary danger' : 'primary'}, verb)
  const dialog = element(
    'dialog',
    {'aria-labelledby': 'dialog-title', 'aria-describedby': 'dialog-text'},
    element(
      'form',
      {method: 'dialog'},
      element('h2', {id: 'dialog-title'}, title),
      element('p', {id: 'dialog-text'}, text),
      ...(form?.elements ?? []),
      fault,
      element('p', {className: 'buttons'}, cancel, confirm),
    ),
  )
  const opener = document.activeElement
  const heading = opener?.closest('section')?.querySelector('[tabindex="-1"]')
  cancel.onclick = () => dialog.close()
  dialog.onclose = () => {
    dialog.remove()
    // The change may have removed the button, or replaced the whole section.
    const targets = [opener, heading, document.querySelector('main [tabindex="-1"]')]
    targets.find((each) => each?.isConnected)?.focus()
  }
  dialog.querySelector('form').onsubmit = async (event) => {
    event.preventDefault()
    confirm.disabled = true
    try {
      await perform(form?.values() ?? {})
      dialog.close()
      toast(done)
    } catch (error) {
      setText(fault, error.message)
      confirm.disabled = false
    }
  }
  document.body.append(dialog)
  dialog.showModal()
}
