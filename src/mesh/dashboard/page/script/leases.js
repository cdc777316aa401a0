/** Table of leases. */
import {button} from '../../../../pages/parts/blocks.js'
import {byId, element, setText} from '../../../../pages/parts/elements.js'
import {now, number, until} from '../../../../pages/parts/format.js'
import {ListTable} from '../../../../pages/parts/list-table.js'
import {tableRow} from '../../../../pages/parts/rows.js'
import {ask, revocationOf} from './actions.js'
import {createPart} from './part.js'

const columns = {Lease: 'id', Key: '', Holder: '', 'Time left': 'fit', '': 'acts'}

const table = new ListTable({
  caption: 'Active leases',
  columns,
  cardsBelow: 544,
  keyOf: ({lease_id: id}) => id,
  make: leaseRow,
  empty: [
    element('p', {className: 'lead'}, 'No active leases.'),
    element('p', {}, 'A node acquires a lease before work that only one node may do at a time.'),
  ],
})
const showPart = createPart(
  'leases',
  table.element,
  'Listing leases and changing nodes require an admin or mesh token.',
)

export const tickLeases = () => table.tick()

export function showLeases(part) {
  const known = showPart(part)
  table.show([...(known ?? [])].sort((a, b) => a.lease_id - b.lease_id))
  setText(byId('leases-figure'), known === undefined ? '–' : number(known.length))
  setText(byId('leases-note'), part?.denied === undefined ? '' : 'not allowed')
  document.querySelector('main').classList.toggle('look', part?.denied !== undefined)
}

function leaseRow({lease_id: id}) {
  const row = tableRow(columns)
  const [name, key, holder, left, acts] = row.contents
  let lease
  const revoke = button('Revoke', () => ask(revocationOf(lease)))
  revoke.ariaLabel = `Revoke lease ${id}`
  acts.append(revoke)
  name.textContent = id

  function tick() {
    setText(left, until(lease.expires_unix_ms))
    left.classList.toggle('soon', lease.expires_unix_ms - now() < 10_000)
  }

  function update(next) {
    lease = next
    setText(key, lease.scope_key)
    setText(holder, lease.holder_node_id)
    tick()
  }
  return {element: row.element, update, tick}
}
