/** Parts of the page, whose data may be unknown yet, or not permitted. */
import {byId, element, setHidden, setText} from '../../../../pages/parts/elements.js'

/**
 * Adds the content of a part to its element.
 * @param denied sentence about the token that is required
 * @returns a function that shows a state of the part, and returns its data, if they are known
 */
export function createPart(id, content, denied) {
  const wait = element('p', {className: 'panel empty quiet'}, 'Waiting for the control plane …')
  const reason = element('p', {className: 'small'})
  const refusal = element(
    'div',
    {className: 'panel empty', hidden: true},
    element('p', {className: 'lead'}, 'Not allowed'),
    element('p', {}, denied),
    reason,
  )
  content.hidden = true
  byId(id).append(wait, refusal, content)
  return (part) => {
    setHidden(wait, part !== undefined)
    setHidden(refusal, part?.denied === undefined)
    setText(reason, part?.denied ?? '')
    setHidden(content, part?.known === undefined)
    return part?.known
  }
}
