/** The dashboard of a mesh: its parts, and the stream of the state. */
import {setClock} from '../../../../pages/parts/format.js'
import {currentKey} from '../../../../pages/parts/key.js'
import {LiveStream} from '../../../../pages/parts/live.js'
import {showDead, tickDead} from './dead.js'
import {showLeases, tickLeases} from './leases.js'
import {showLink, showLost, showRefused} from './link.js'
import {showNodes, tickNodes} from './nodes.js'
import {showQueue} from './queue.js'

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

const stream = new LiveStream('/api/events', {state: show, changes: change}, (link) => {
  if (link === 'lost') showLost()
  if (link === 'refused') showRefused()
})

function start() {
  if (currentKey() === undefined) showRefused()
  else stream.open()
}

addEventListener('hashchange', start)
setInterval(() => {
  tickNodes()
  tickLeases()
  tickDead()
}, 1000)
start()
