/** Table of active leases. */

import {byId, element, setText} from '../../../../pages/parts/elements.js'
import {now, number, until} from '../../../../pages/parts/format.js'
import {tableRow} from '../../../../pages/parts/rows.js'
import {ask, revocationOf} from './dialog.js'
import {keyedTable, openPart} from './table.js'

const leaseColumns = {Lease: 'id', Key: '', Holder: '', 'Time left': 'fit', '': 'acts'}

export const leaseTable = keyedTable(
  'leases',
  544,
  ({lease_id: id}) => id,
  ({lease_id: id}) => {
    const row = tableRow(leaseColumns)
    const [name, key, holder, left, acts] = row.contents
    const revoke = element('button', {type: 'button', ariaLabel: `Revoke lease ${id}`}, 'Revoke')
    acts.append(revoke)
    name.textContent = id
    let lease
    revoke.onclick = () => ask(revocationOf(lease))

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
  },
)

export function showLeases(part) {
  const known = openPart('leases', part, (leases) => leases.length === 0)
  leaseTable.show([...(known ?? [])].sort((a, b) => a.lease_id - b.lease_id))
  setText(byId('leases-figure'), known === undefined ? '–' : number(known.length))
  setText(byId('leases-note'), part?.denied === undefined ? '' : 'not allowed')
  document.querySelector('main').classList.toggle('look', part?.denied !== undefined)
}
