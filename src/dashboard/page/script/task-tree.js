/** The tasks that a task waits for, and those that wait for it, as trees. */
import {section} from '../../../pages/parts/blocks.js'
import {element} from '../../../pages/parts/elements.js'
import {addressOf} from '../../../pages/parts/router.js'
import {badge} from './words.js'

/** Sections with the trees of a task. @param related result of `orch.related_tasks` */
export function taskTrees({id, depends_on: needed = []}, {prerequisites, dependants, truncated}) {
  const among = (ids) => prerequisites.filter(({task_id: each}) => ids.includes(each))
  const waitingFor = (each) => dependants.filter(({depends_on: ids}) => ids.includes(each))
  const note = truncated ? [element('p', {className: 'quiet'}, 'There are more tasks than are shown.')] : []
  return [
    section('Waits for', ...tree(among(needed), ({depends_on: ids}) => among(ids))),
    section('Waited for by', ...tree(waitingFor(id), ({task_id: each}) => waitingFor(each))),
    ...note,
  ]
}

/** A tree of tasks. One that is reached in several ways has its own branches only once. */
function tree(roots, nextOf) {
  const shown = new Set()
  const branch = (tasks) => element('ul', {}, ...tasks.map(item))
  function item(task) {
    const {task_id: id, display_id: name, description, status} = task
    const isRepeated = shown.has(id)
    shown.add(id)
    const next = nextOf(task)
    return element(
      'li',
      {},
      element('a', {href: addressOf(['tasks', String(id)])}, name),
      ' ',
      badge(status),
      ' ',
      element('span', {}, description),
      ...(next.length === 0
        ? []
        : isRepeated
          ? [element('span', {className: 'quiet'}, ' (see above)')]
          : [branch(next)]),
    )
  }
  return roots.length === 0 ? [] : [element('div', {className: 'tree panel'}, branch(roots))]
}
