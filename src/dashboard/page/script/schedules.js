/** When the daemon starts workflows. */
import {plainTable, section} from '../../../pages/parts/blocks.js'
import {element} from '../../../pages/parts/elements.js'
import {dateFormat} from '../../../pages/parts/format.js'
import {createReader} from '../../../pages/parts/reader.js'
import {addressOf} from '../../../pages/parts/router.js'
import {call} from './operations.js'

/** A section with the schedules; nothing if there are none. */
export function schedulesBlock(showFault) {
  const block = element('div', {})
  const {reload, close} = createReader(
    () => call('orch.workflow.schedules'),
    ({schedules}) => {
      const columns = ['Workflow', 'Schedule', 'Next start', 'Last run']
      const content = schedules.length === 0 ? [] : [plainTable('Schedules', columns, schedules.map(cells))]
      block.replaceChildren(...[section('Schedules', ...content)].filter((each) => each !== undefined))
    },
    {onFault: showFault},
  )
  reload()
  return {element: block, reload, close}
}

const cells = ({workflow, cron, time_zone: zone, next_at_ms: next, last_run: last}) => [
  workflow,
  `${cron} (${zone})`,
  next === undefined ? undefined : dateFormat.format(next),
  last === undefined ? undefined : element('a', {href: addressOf(['runs', last.run_id])}, last.status),
]
