/** Event stream of the state, open only while the page is visible. */

import {setClock} from '../../../../pages/parts/format.js'
import {deadTable, showDead} from './dead.js'
import {base} from './dialog.js'
import {leaseTable, showLeases} from './leases.js'
import {setLink, showLink} from './link.js'
import {nodeTable, showNodes} from './nodes.js'
import {showQueue} from './queue.js'

const lostText = 'The connection to svc mesh dashboard is lost. Restart it and open the address that it prints.'
let stream
let again

let current

function show(state) {
  current = state
  setClock(state.clock_unix_ms)
  showLink(state.control)
  showNodes(state.nodes)
  showLeases(state.leases)
  showQueue(state.queue)
  showDead(state.dead)
}

/** Applies changes to the current state. */
function change({rows, ...rest}) {
  const changed = new Map(rows.map((row) => [row.id, row]))
  const {nodes} = current
  const known = nodes?.known?.map((node) => changed.get(node.id) ?? node)
  show({...rest, nodes: known === undefined ? nodes : {...nodes, known}})
}

function connect() {
  clearTimeout(again)
  stream?.close()
  stream = new EventSource(`${base}events`)
  stream.addEventListener('state', ({data}) => show(JSON.parse(data)))
  stream.addEventListener('changes', ({data}) => change(JSON.parse(data)))
  stream.onerror = () => {
    setLink('lost', lostText)
    document.title = 'Mesh · lost'
    // The browser reconnects a broken connection automatically, but not after an error response.
    if (stream.readyState === EventSource.CLOSED) again = setTimeout(connect, 5000)
  }
}

document.addEventListener('visibilitychange', () => {
  if (!document.hidden) return connect()
  clearTimeout(again)
  stream.close()
})
setInterval(() => {
  nodeTable.tick()
  leaseTable.tick()
  deadTable.tick()
}, 1000)
connect()
