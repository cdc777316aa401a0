/** List of tasks with its filters. */
import {ask} from '../../../pages/parts/dialog.js'
import {element, fill, setText} from '../../../pages/parts/elements.js'
import {number} from '../../../pages/parts/format.js'
import {PagedTable} from '../../../pages/parts/paged-table.js'
import {addressOf} from '../../../pages/parts/router.js'
import {flash, tableRow} from '../../../pages/parts/rows.js'
import {call, canCall, inputOf} from './operations.js'
import {badge, firstLine, prioritySchema, taskStatuses, timeOf} from './words.js'

const columns = {Task: 'id fit', Description: 'main', Status: 'fit', Agent: 'name', Updated: 'fit'}

/** Members of the form of a new task; an agent or a command can give the others. */
const newTaskFields = ['description', 'files', 'priority', 'target_agent', 'requires_approval']

/** Counts of the status by the status of a task. */
const countsOf = {
  Queued: 'total_queued',
  InProgress: 'total_in_progress',
  Completed: 'total_completed',
  Failed: 'total_failed',
  Cancelled: 'total_cancelled',
  Doubted: 'total_doubted',
}

export function tasksView({query}, {showFault}) {
  const status = query.get('status') ?? ''
  const agent = query.get('agent') ?? ''
  const filter = {
    ...(status === '' ? {} : {status: [status]}),
    ...(agent === '' ? {} : {agent_id: agent}),
  }
  const table = new PagedTable({
    caption: 'Tasks, newest first',
    columns,
    load: async (before, limit) =>
      (await call('orch.list_tasks', {...filter, limit, ...(before === undefined ? {} : {before_id: before})})).tasks,
    keyOf: ({id}) => id,
    make: taskRow,
    empty: emptyTasks(status !== '' || agent !== ''),
    onFault: showFault,
  })
  const chips = new Map(['', ...Object.keys(taskStatuses)].map((value) => [value, chipOf(value, status, agent)]))
  const agents = element('select', {ariaLabel: 'Agent'})
  agents.onchange = () => {
    location.hash = addressOf(['tasks'], {status, agent: agents.value})
  }
  const add = element(
    'button',
    {type: 'button', className: 'primary', hidden: !canCall('orch.submit_task')},
    'New task',
  )
  add.onclick = askTask
  return {
    title: 'Tasks',
    actions: [agents, add],
    elements: [
      element('div', {className: 'chips', role: 'group', ariaLabel: 'Filter tasks by status'}, ...chips.values()),
      table.element,
    ],
    changed: ({task_ids: ids}) => ids.length > 0 && table.changed(ids),
    reload: () => table.changed(),
    tick: () => table.tick(),
    close: () => table.close(),
    showStatus(report) {
      for (const [value, member] of Object.entries(countsOf))
        setText(chips.get(value).lastChild, ` ${number(report[member])}`)
      fill(
        agents,
        report.agents.map(({name}) => name),
        () => [
          element('option', {value: ''}, 'All agents'),
          ...report.agents.map(({name}) => element('option', {value: name, selected: name === agent}, name)),
        ],
      )
    },
  }
}

function chipOf(value, status, agent) {
  const [words] = taskStatuses[value] ?? ['All']
  return element(
    'a',
    {className: 'chip', href: addressOf(['tasks'], {status: value, agent}), ariaCurrent: String(value === status)},
    words,
    element('span', {className: 'quiet'}),
  )
}

const emptyTasks = (isFiltered) =>
  isFiltered
    ? [element('p', {}, 'No tasks match the filter.')]
    : [
        element('p', {className: 'lead'}, 'No tasks.'),
        element('p', {}, 'To submit one, press New task, or run:'),
        element('p', {}, element('code', {}, 'svc orch submit "Review the change"')),
      ]

function taskRow({id}) {
  const row = tableRow(columns)
  const [name, description, status, agent, updated] = row.contents
  let task
  let time
  name.append(element('a', {href: addressOf(['tasks', String(id)])}))
  return {
    element: row.element,
    tick: () => time?.tick(),
    update(next) {
      if (task !== undefined && task.updated_at_ms !== next.updated_at_ms) flash(row.element)
      task = next
      setText(name.firstChild, task.display_id)
      setText(description, firstLine(task.description))
      fill(status, task.status, () => [badge(task.status)])
      setText(agent, task.agent_name)
      fill(updated, task.updated_at_ms, () => {
        time = timeOf(task.updated_at_ms)
        return [time.element]
      })
    },
  }
}

const filesSchema = {
  type: 'array',
  items: {type: 'string'},
  description: 'Files that the task writes. Add :read to those that it only reads.',
}

/** The file of a line, as `--file` of the command. */
function fileOf(line) {
  const [, path, access = 'write'] = /^(.*?)(?::(read|write))?$/.exec(line)
  return {path, access}
}

function askTask() {
  const schema = inputOf('orch.submit_task')
  ask({
    title: 'New task',
    verb: 'Submit',
    schema: {
      ...schema,
      properties: {...schema.properties, priority: {...prioritySchema, default: 'normal'}, files: filesSchema},
    },
    fields: newTaskFields,
    perform: ({files, ...values}) =>
      call('orch.submit_task', files === undefined ? values : {...values, files: files.map(fileOf)}),
    done: 'The task was submitted.',
  })
}
