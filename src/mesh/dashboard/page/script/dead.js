/** Table of dead letters, newest first. */
import {button} from '../../../../pages/parts/blocks.js'
import {byId, element, setText} from '../../../../pages/parts/elements.js'
import {ago, dateFormat, number} from '../../../../pages/parts/format.js'
import {ListTable} from '../../../../pages/parts/list-table.js'
import {tableRow} from '../../../../pages/parts/rows.js'
import {ask, dropOf, retryOf} from './actions.js'
import {createPart} from './part.js'

const columns = {Message: 'id', From: '', To: '', Type: '', 'Dead since': 'fit', Payload: '', '': 'acts'}

const table = new ListTable({
  caption: 'Dead letters',
  columns,
  cardsBelow: 992,
  keyOf: ({id}) => id,
  make: deadRow,
  empty: [
    element('p', {className: 'lead'}, 'No dead letters.'),
    element('p', {}, 'A message is dead after 16 delivery attempts without an acknowledgement.'),
  ],
})
const showPart = createPart('dead', table.element, 'Listing dead letters requires an admin or mesh token.')

export const tickDead = () => table.tick()

export function showDead(part) {
  const known = showPart(part)
  table.show(known ?? [])
  setText(byId('dead-title'), part?.truncated ? `The newest ${number(known.length)} dead letters` : 'Dead letters')
}

function deadRow({id}) {
  const row = tableRow(columns)
  const [name, from, to, type, since, payload, acts] = row.contents
  let message
  const retry = button('Retry', () => ask(retryOf(message)))
  const drop = button('Drop', () => ask(dropOf(message)))
  retry.ariaLabel = `Retry message ${id}`
  drop.ariaLabel = `Drop message ${id}`
  acts.append(retry, drop)
  name.textContent = id

  const tick = () => setText(since, ago(message.dead_unix_ms))

  function update(next) {
    message = next
    setText(from, next.sender_agent_id)
    setText(to, next.receiver_agent_id)
    setText(type, next.message_type)
    setText(payload, next.payload)
    since.title = dateFormat.format(next.dead_unix_ms)
    tick()
  }
  return {element: row.element, update, tick}
}
