/** The stream that the state comes by, held only while somebody looks. */
import {deadTable, showDead} from './dead.js'
import {base} from './dialog.js'
import {setClock} from './format.js'
import {leaseTable, showLeases} from './leases.js'
import {setLink, showLink} from './link.js'
import {nodeTable, showNodes} from './nodes.js'
import {showQueue} from './queue.js'

const lostText = 'This page has lost svc mesh dashboard. Start it again and open the address that it prints then.'
let stream
let again

let shown

function show(state) {
  shown = state
  setClock(state.clock_unix_ms)
  showLink(state.control)
  showNodes(state.nodes)
  showLeases(state.leases)
  showQueue(state.queue)
  showDead(state.dead)
}

/** The state that is shown, with what has changed of it. */
function change({rows, ...rest}) {
  const changed = new Map(rows.map((row) => [row.id, row]))
  const {nodes} = shown
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
    // A refusal ends the stream for good; a connection that broke is opened again by the browser itself.
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
