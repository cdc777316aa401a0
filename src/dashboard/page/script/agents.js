/** Agents of the workspace, and nodes of its mesh. */
import {button, section} from '../../../pages/parts/blocks.js'
import {ask} from '../../../pages/parts/dialog.js'
import {element, fill, setHidden, setText} from '../../../pages/parts/elements.js'
import {number} from '../../../pages/parts/format.js'
import {ListTable} from '../../../pages/parts/list-table.js'
import {addressOf} from '../../../pages/parts/router.js'
import {tableRow} from '../../../pages/parts/rows.js'
import {call, canCall, inputOf} from './operations.js'
import {badge, timeOf} from './words.js'

const agentColumns = {Agent: 'id', State: 'fit', Queued: 'fit', Running: 'fit', Completed: 'fit', '': 'acts'}
const nodeColumns = {Node: 'id', State: '', 'Last seen': 'fit', Labels: ''}

export function agentsView() {
  const agents = new ListTable({
    caption: 'Agents',
    columns: agentColumns,
    keyOf: ({id}) => id,
    make: agentRow,
    empty: [element('p', {}, 'No agents.')],
  })
  const nodes = new ListTable({
    caption: 'Nodes of the mesh',
    columns: nodeColumns,
    keyOf: ({id}) => id,
    make: nodeRow,
    empty: [element('p', {}, 'No nodes have joined the mesh.')],
  })
  const mesh = section('Nodes', nodes.element)
  const fault = element('p', {className: 'banner', hidden: true})
  mesh.hidden = true
  mesh.append(fault)
  const [stop, start] = stopButtons()
  return {
    title: 'Agents',
    actions: canCall('orch.emergency_stop') ? [stop, start] : [],
    elements: [agents.element, mesh],
    tick: () => nodes.tick(),
    showStatus({agents: list, stopped, mesh_snapshot: snapshot}) {
      setHidden(stop, stopped !== null)
      setHidden(start, stopped === null)
      agents.show(list.filter(({state}) => state !== 'retired'))
      mesh.hidden = snapshot === undefined
      if (snapshot === undefined) return
      fault.hidden = snapshot.ok
      setText(fault, snapshot.error ?? '')
      if (snapshot.ok) nodes.show(snapshot.nodes)
    },
  }
}

function agentRow({id, name: agentName}) {
  const row = tableRow(agentColumns)
  const [name, state, queued, running, completed, acts] = row.contents
  const under = element('span', {className: 'under'})
  name.append(element('a', {href: addressOf(['tasks'], {agent: agentName})}, agentName), under)
  const pause = button('Pause', () =>
    call(pause.textContent === 'Pause' ? 'orch.pause_agent' : 'orch.resume_agent', {agent_id: id}),
  )
  if (canCall('orch.pause_agent')) acts.append(pause)
  return {
    element: row.element,
    update(agent) {
      setText(under, [agent.kind, agent.model].filter(Boolean).join(', '))
      fill(state, agent.state, () => [badge(agent.state === 'active' ? 'idle' : agent.state)])
      setText(queued, number(agent.queued))
      setText(running, number(agent.running))
      setText(completed, number(agent.completed))
      setText(pause, agent.state === 'paused' ? 'Resume' : 'Pause')
      pause.ariaLabel = `${pause.textContent} ${agentName}`
    },
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
      fill(state, conditions, () => (conditions.length === 0 ? [badge('ok')] : conditions.map(badge)))
      fill(seen, node.last_seen_unix_ms, () => {
        time = timeOf(node.last_seen_unix_ms ?? 0)
        return [time.element]
      })
      setText(labels, (node.capabilities?.labels ?? node.labels ?? []).join(', '))
    },
  }
}

const stopButtons = () => [
  button('Stop everything', () =>
    ask({
      title: 'Stop everything?',
      text: 'Running tasks are stopped and queued again, and new ones are refused until you start the orchestrator.',
      verb: 'Stop everything',
      isDangerous: true,
      schema: inputOf('orch.emergency_stop'),
      perform: (values) => call('orch.emergency_stop', values),
      done: 'Everything is stopped.',
    }),
  ),
  button('Start', () => call('orch.start'), 'primary'),
]
