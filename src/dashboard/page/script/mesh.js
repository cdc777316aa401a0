/** Nodes and leases of the mesh. */
import {button, section} from '../../../pages/parts/blocks.js'
import {ask} from '../../../pages/parts/dialog.js'
import {element, fill, setHidden, setText} from '../../../pages/parts/elements.js'
import {until} from '../../../pages/parts/format.js'
import {ListTable} from '../../../pages/parts/list-table.js'
import {createReader} from '../../../pages/parts/reader.js'
import {tableRow} from '../../../pages/parts/rows.js'
import {call, canCall} from './operations.js'
import {badge, timeOf} from './words.js'

const nodeColumns = {Node: 'id', State: '', 'Last seen': 'fit', Labels: ''}
const leaseColumns = {Lease: 'id fit', Key: '', Holder: '', 'Time left': 'fit', '': 'acts'}

/** The control plane sends no events, so it is asked while the view is open, ms. */
const pollMs = 3000

export function meshView(_route, {showFault}) {
  const nodes = new ListTable({
    caption: 'Nodes of the mesh',
    columns: nodeColumns,
    keyOf: ({id}) => id,
    make: nodeRow,
    empty: [element('p', {}, 'No nodes have joined the mesh.')],
  })
  const leases = new ListTable({
    caption: 'Active leases',
    columns: leaseColumns,
    keyOf: ({lease_id: id}) => id,
    make: leaseRow,
    empty: [element('p', {}, 'No active leases.')],
  })
  const address = element('p', {className: 'quiet mono'})
  const denied = element('p', {className: 'banner', hidden: true})
  const known = element(
    'div',
    {hidden: true},
    address,
    section('Nodes', nodes.element),
    section('Leases', denied, leases.element),
  )
  const none = element(
    'div',
    {className: 'panel empty', hidden: true},
    element('p', {className: 'lead'}, 'No mesh is configured.'),
    element('p', {}, 'To connect this machine to a control plane, run:'),
    element('p', {}, element('code', {}, 'svc mesh join --control-url http://HOST:9847')),
  )

  async function read() {
    const {mesh_snapshot: snapshot} = await call('orch.status')
    if (snapshot === undefined) return {}
    if (!snapshot.ok) throw new Error(snapshot.error)
    const listed = await call('mesh.leases').catch((error) => ({leases: [], fault: error.message}))
    return {snapshot, ...listed}
  }

  function show({snapshot, leases: held, control_url: url, fault = ''}) {
    showFault()
    setHidden(known, snapshot === undefined)
    setHidden(none, snapshot !== undefined)
    if (snapshot === undefined) return
    setText(address, url ?? '')
    nodes.show(snapshot.nodes)
    leases.show(held)
    setText(denied, fault)
    setHidden(denied, fault === '')
    setHidden(leases.element, fault !== '')
  }

  const {reload, close} = createReader(read, show, {onFault: showFault})
  reload()
  return {
    title: 'Mesh',
    elements: [known, none],
    reload,
    pollMs,
    tick() {
      nodes.tick()
      leases.tick()
    },
    close,
  }
}

function nodeRow({id}) {
  const row = tableRow(nodeColumns)
  const [name, state, seen, labels] = row.contents
  let time
  name.append(id)
  return {
    element: row.element,
    tick: () => time?.tick(),
    update(node) {
      const conditions = ['quarantined', 'maintenance', 'stale'].filter((word) => node[word] === true)
      fill(state, conditions, () => (conditions.length === 0 ? [badge('OK')] : conditions.map(badge)))
      fill(seen, node.last_seen_unix_ms, () => {
        time = timeOf(node.last_seen_unix_ms ?? 0)
        return [time.element]
      })
      setText(labels, (node.capabilities?.labels ?? node.labels ?? []).join(', '))
    },
  }
}

function leaseRow({lease_id: id}) {
  const row = tableRow(leaseColumns)
  const [name, key, holder, left, acts] = row.contents
  let lease
  name.append(id)
  if (canCall('mesh.revoke_lease')) {
    const revoke = button('Revoke', () =>
      ask({
        title: `Revoke lease ${id}?`,
        text: `${lease.holder_node_id} holds it on ${lease.scope_key} and must stop the work it covers. Another node can acquire the key immediately.`,
        verb: 'Revoke lease',
        isDangerous: true,
        perform: () => call('mesh.revoke_lease', {lease_id: id}),
        done: `Lease ${id} was revoked.`,
      }),
    )
    revoke.ariaLabel = `Revoke lease ${id}`
    acts.append(revoke)
  }
  const tick = () => setText(left, until(lease.expires_unix_ms))
  return {
    element: row.element,
    tick,
    update(next) {
      lease = next
      setText(key, lease.scope_key)
      setText(holder, lease.holder_node_id)
      tick()
    },
  }
}
