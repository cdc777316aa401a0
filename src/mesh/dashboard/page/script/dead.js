/** Table of dead messages, newest first. */

import {byId, element, setText} from '../../../../pages/parts/elements.js'
import {ago, dateFormat, number} from '../../../../pages/parts/format.js'
import {tableRow} from '../../../../pages/parts/rows.js'
import {ask, dropOf, retryOf} from './dialog.js'
import {keyedTable, openPart} from './table.js'

const deadColumns = {Message: 'id', From: '', To: '', Type: '', 'Dead since': 'fit', Payload: '', '': 'acts'}

export const deadTable = keyedTable(
  'dead',
  992,
  ({id}) => id,
  ({id}) => {
    const row = tableRow(deadColumns)
    const [name, from, to, type, since, payload, acts] = row.contents
    const retry = element('button', {type: 'button', ariaLabel: `Retry message ${id}`}, 'Retry')
    const drop = element('button', {type: 'button', ariaLabel: `Drop message ${id}`}, 'Drop')
    acts.append(retry, drop)
    name.textContent = id
    let message
    retry.onclick = () => ask(retryOf(message))
    drop.onclick = () => ask(dropOf(message))

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
  },
)

export function showDead(part) {
  const known = openPart('dead', part, (messages) => messages.length === 0)
  deadTable.show(known ?? [])
  setText(byId('dead-title'), part?.truncated ? `The newest ${number(known.length)} dead messages` : 'Dead messages')
}
