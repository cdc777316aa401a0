/** Agents of the workspace. */
import {button} from '../../../pages/parts/blocks.js'
import {ask} from '../../../pages/parts/dialog.js'
import {element, fill, setHidden, setText} from '../../../pages/parts/elements.js'
import {number} from '../../../pages/parts/format.js'
import {ListTable} from '../../../pages/parts/list-table.js'
import {addressOf} from '../../../pages/parts/router.js'
import {tableRow} from '../../../pages/parts/rows.js'
import {call, canCall, inputOf} from './operations.js'
import {badge} from './words.js'

const agentColumns = {Agent: 'id', State: 'fit', Queued: 'fit', Running: 'fit', Completed: 'fit', '': 'acts'}

export function agentsView() {
  const agents = new ListTable({
    caption: 'Agents',
    columns: agentColumns,
    keyOf: ({id}) => id,
    make: agentRow,
    empty: [element('p', {}, 'No agents.')],
  })
  const [stop, start] = stopButtons()
  return {
    title: 'Agents',
    actions: canCall('orch.emergency_stop') ? [stop, start] : [],
    elements: [agents.element],
    showStatus({agents: list, stopped}) {
      setHidden(stop, stopped !== null)
      setHidden(start, stopped === null)
      agents.show(list.filter(({state}) => state !== 'retired'))
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
