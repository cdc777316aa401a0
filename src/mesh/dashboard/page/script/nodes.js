/** Table of nodes, its filter and its announcements. */
import {announce, byId, element, fill, setHidden, setText} from '../../../../pages/parts/elements.js'
import {ago, count, dateFormat, duration, now, number} from '../../../../pages/parts/format.js'
import {ListTable} from '../../../../pages/parts/list-table.js'
import {flash, tableRow} from '../../../../pages/parts/rows.js'
import {ask, maintenanceOf, quarantineOf} from './actions.js'
import {createPart} from './part.js'

const conditionWords = {quarantined: 'Quarantine', maintenance: 'Maintenance', stale: 'Stale', suspect: 'Suspect'}
const tones = {quarantined: 'bad', maintenance: 'info', stale: 'warn', suspect: 'warn'}

const nodeColumns = {
  Node: 'id',
  State: '',
  'Last seen': 'fit',
  Tasks: 'fit',
  GPU: 'bits',
  CPU: 'bits',
  Labels: 'bits',
  '': 'acts',
}

const none = element('p', {hidden: true}, 'No nodes match the filter.')
const joinHint = element(
  'div',
  {},
  element('p', {className: 'lead'}, 'No nodes have joined.'),
  element('p', {}, 'To join this machine or another one that has a token, run:'),
  element('p', {}, element('code', {id: 'nodes-command'}, 'svc mesh join')),
)
const table = new ListTable({
  caption: 'Nodes of the mesh',
  columns: nodeColumns,
  cardsBelow: 992,
  keyOf: ({id}) => id,
  make: nodeRow,
  empty: [joinHint, none],
})
const showPart = createPart('nodes', table.element, 'Listing nodes requires a worker, admin or mesh token.')

export const tickNodes = () => table.tick()

function nodeRow({id}) {
  const row = tableRow(nodeColumns)
  const [name, state, seen, tasks, gpu, cpu, labels, acts] = row.contents
  const quarantine = element('button', {type: 'button'})
  const maintenance = element('button', {type: 'button'})
  acts.append(maintenance, quarantine)
  const version = element('span', {className: 'under'})
  name.append(element('span', {}, id), ' ', version)
  let node
  quarantine.onclick = () => ask(quarantineOf(id, !node.conditions.includes('quarantined')))
  maintenance.onclick = () => ask(maintenanceOf(id, !node.conditions.includes('maintenance')))
  const under = element('span', {className: 'under'})

  function tick() {
    setText(seen, ago(node.last_seen_unix_ms))
    const end = node.maintenance_until_unix_ms
    setText(under, end === undefined || end <= now() ? '' : `${duration(end - now())} left`)
    setHidden(under, under.textContent === '')
  }

  function update(next) {
    if (node !== undefined && String(node.conditions) !== String(next.conditions)) flash(row.element)
    node = next
    const {conditions} = node
    fill(state, conditions, () => [
      ...(conditions.length === 0 ? [element('span', {className: 'badge', 'data-tone': 'good'}, 'OK')] : []),
      ...conditions.map((each) =>
        element('span', {className: 'badge', 'data-tone': tones[each]}, conditionWords[each]),
      ),
      under,
    ])
    seen.title = dateFormat.format(node.last_seen_unix_ms)
    setText(version, `version ${node.version}`)
    setText(tasks, node.running_tasks === undefined ? '–' : number(node.running_tasks))
    row.mark(3, node.running_tasks === undefined)
    fill(gpu, node.gpu, () => bits(node.gpu))
    row.mark(4, node.gpu.length === 0)
    fill(cpu, [node.cpu, node.cpu_usage_pct], () => cpuContent(node))
    row.mark(5, cpu.textContent === '–')
    fill(labels, node.labels, () =>
      node.labels.length === 0 ? ['–'] : node.labels.map((label) => element('span', {className: 'tag'}, label)),
    )
    row.mark(6, node.labels.length === 0)
    setAction(quarantine, conditions.includes('quarantined'), 'Quarantine', id)
    setAction(maintenance, conditions.includes('maintenance'), 'Maintenance', id)
    tick()
  }
  return {element: row.element, update, tick}
}

function setAction(button, isOn, word, id) {
  const text = isOn ? `End ${word.toLowerCase()}` : word
  setText(button, text)
  button.ariaLabel = `${text}: ${id}`
}

const bits = (texts) => (texts.length === 0 ? ['–'] : texts.map((text) => element('span', {className: 'bit'}, text)))

function cpuContent({cpu, cpu_usage_pct: usage}) {
  if (usage === undefined) return bits(cpu)
  const level = element('span', {})
  level.style.width = `${Math.min(100, Math.max(0, usage))}%`
  return [...bits([...cpu, `${usage} % busy`]), element('span', {className: 'load', ariaHidden: 'true'}, level)]
}

/** Filters by state. */
const choices = [
  ['all', 'All', () => true],
  ['ok', 'OK', ({conditions}) => conditions.length === 0],
  ...Object.entries(conditionWords).map(([name, word]) => [name, word, ({conditions}) => conditions.includes(name)]),
]
let chosen = 'all'
let allNodes = []
const chips = choices.map(([name]) => {
  const chip = element('button', {type: 'button', ariaPressed: String(name === chosen)})
  chip.onclick = () => {
    chosen = name
    chips.forEach((each, i) => {
      each.ariaPressed = String(choices[i][0] === chosen)
    })
    chooseNodes()
  }
  return chip
})
byId('choose')
  .querySelector('.chips')
  .append(...chips)
byId('filter').oninput = () => chooseNodes()

function chooseNodes() {
  const words = byId('filter').value.toLowerCase().split(/\s+/).filter(Boolean)
  const isChosen = choices.find(([name]) => name === chosen)[2]
  const hasWords = ({id, labels}) =>
    words.every((word) => [id, ...labels].some((text) => text.toLowerCase().includes(word)))
  const shown = allNodes.filter((node) => isChosen(node) && hasWords(node))
  table.show(shown)
  setHidden(joinHint, allNodes.length > 0)
  setHidden(none, allNodes.length === 0)
}

let nodesBefore
export function showNodes(part) {
  const known = showPart(part)
  allNodes = known ?? []
  setHidden(byId('choose'), allNodes.length === 0)
  choices.forEach(([name, word, isOne], i) => {
    const size = allNodes.filter(isOne).length
    setText(chips[i], `${word} ${number(size)}`)
    setHidden(chips[i], size === 0 && name !== 'all' && name !== chosen)
  })
  chooseNodes()
  const ill = allNodes.filter(({conditions}) => conditions.length > 0).length
  setText(byId('nodes-figure'), known === undefined ? '–' : number(allNodes.length) + (part.truncated ? '+' : ''))
  const fit = allNodes.length === 0 ? '' : ill === 0 ? 'all OK' : `${number(allNodes.length - ill)} OK`
  setText(byId('nodes-note'), fit + (part?.truncated ? '; more not shown' : ''))
  if (known !== undefined) {
    announceChanges(nodesBefore, known)
    nodesBefore = known
  }
}

/** Announces the changes since the previous state; only their number if there are more than three. */
function announceChanges(before, nodes) {
  if (before === undefined) return
  const old = new Map(before.map((node) => [node.id, String(node.conditions)]))
  const sentences = []
  for (const {id, conditions} of nodes) {
    const was = old.get(id)
    old.delete(id)
    if (was === undefined) sentences.push(`${id} joined.`)
    else if (was !== String(conditions))
      sentences.push(`${id}: ${conditions.map((each) => conditionWords[each].toLowerCase()).join(', ') || 'OK'}.`)
  }
  for (const id of old.keys()) sentences.push(`${id} left.`)
  if (sentences.length > 0)
    announce(sentences.length <= 3 ? sentences.join(' ') : `${count(sentences.length, 'node')} changed.`)
}
