/** The dashboard of a workspace: its views, and the stream of changes that keeps them up to date. */
import {byId, element, replaceContent, setHidden, setText} from '../../../pages/parts/elements.js'
import {currentKey} from '../../../pages/parts/key.js'
import {setLink} from '../../../pages/parts/link.js'
import {LiveStream} from '../../../pages/parts/live.js'
import {createReader} from '../../../pages/parts/reader.js'
import {Unreachable} from '../../../pages/parts/request.js'
import {addressOf, onRoute} from '../../../pages/parts/router.js'
import {agentsView} from './agents.js'
import {helpView} from './help.js'
import {meshView} from './mesh.js'
import {modelsView} from './models.js'
import {call, loadMethods, onChange} from './operations.js'
import {plansView, planView} from './plans.js'
import {questionsView} from './questions.js'
import {runsView, runView} from './runs.js'
import {queryView, tablesView} from './tables.js'
import {taskView} from './task.js'
import {tasksView} from './tasks.js'

/** Views by the first segment of the address; the second one is the id of an object. */
const views = [
  {name: 'tasks', words: 'Tasks', open: tasksView, openOne: taskView},
  {name: 'runs', words: 'Workflows', open: runsView, openOne: runView},
  {name: 'plans', words: 'Plans', open: plansView, openOne: planView},
  {name: 'questions', words: 'Questions', open: questionsView},
  {name: 'agents', words: 'Agents', open: agentsView},
  {name: 'mesh', words: 'Mesh', open: meshView},
  {name: 'models', words: 'Models', open: modelsView},
  {name: 'tables', words: 'Tables', open: tablesView, openOne: queryView},
  {name: 'help', words: 'Help', open: helpView},
]

const lostText = 'The connection to svc dashboard is lost. The page continues when it runs again.'
const refusedText = 'The key in the address of this page is not valid. Open the address that svc dashboard prints.'
const daemonText = 'No daemon runs the queued tasks of this workspace. Start one with svc daemon start.'

let view
/** Reads a view again that gets no events. */
let polling
let isOpen = false

const links = views.map(({name, words}) => element('a', {href: addressOf([name])}, words))
byId('views').append(...links)

function showFault(error) {
  // The state of the connection shows this.
  if (error instanceof Unreachable) return
  setText(byId('fault'), error?.message ?? '')
  setHidden(byId('fault'), error === undefined)
}

function showView(route) {
  const [first = 'tasks', ...rest] = route.segments
  const found = views.find(({name}) => name === first) ?? views[0]
  const before = view
  showFault()
  view?.close?.()
  clearInterval(polling)
  const open = rest.length > 0 ? (found.openOne ?? found.open) : found.open
  view = open({...route, segments: rest}, {showFault})
  if (view.pollMs !== undefined) polling = setInterval(() => isOpen && !document.hidden && view.reload(), view.pollMs)
  const title = element('h2', {tabIndex: -1}, view.title)
  replaceContent(
    byId('view'),
    element('div', {className: 'head'}, title, element('div', {className: 'actions'}, ...(view.actions ?? []))),
    ...view.elements,
  )
  document.title = `${view.title} · Workspace`
  views.forEach(({name}, index) => {
    links[index].ariaCurrent = name === found.name ? 'page' : null
  })
  // The first view is not a change that a screen reader must announce.
  if (before !== undefined && before.title !== view.title) title.focus({preventScroll: true})
  if (status !== undefined) view.showStatus?.(status)
}

let status
const {reload: readStatus} = createReader(
  () => call('orch.status', {mesh: false}),
  (report) => {
    status = report
    view?.showStatus?.(status)
    showLink()
  },
  {onFault: showFault, pauseMs: 300},
)

function showLink() {
  if (!isOpen) return
  if (status?.stopped) setLink('busy', 'Stopped', stopText(status.stopped))
  else if (status !== undefined && status.daemon === null) setLink('busy', 'No daemon', daemonText)
  else setLink('answers', 'Connected')
}

const stopText = ({reason}) => `All tasks are stopped${reason ? `: ${reason}` : ''}. Resume them with svc orch start.`

const stream = new LiveStream(
  '/api/changes',
  {
    opened({isResumed}) {
      if (!isResumed) view?.reload?.()
      readStatus()
    },
    // The daemon has started or ended; runs and tasks that it worked on may be interrupted.
    daemon() {
      view?.reload?.()
      readStatus()
    },
    changes(changes) {
      view?.changed?.(changes)
      readStatus()
    },
  },
  (state) => {
    isOpen = state === 'answers'
    if (state === 'lost') setLink('lost', 'Not reachable', lostText)
    else if (state === 'refused') setLink('lost', 'Not allowed', refusedText)
    else showLink()
  },
)

onChange(() => {
  view?.reload?.()
  readStatus()
})

async function start() {
  if (currentKey() === undefined) return setLink('lost', 'Not allowed', refusedText)
  try {
    setText(byId('workspace'), await loadMethods())
  } catch (error) {
    if (error instanceof Unreachable) setTimeout(start, 1000)
    const [words, text] = error instanceof Unreachable ? ['Not reachable', lostText] : ['Not allowed', refusedText]
    return setLink('lost', words, text)
  }
  onRoute(showView)
  stream.open()
}

addEventListener('hashchange', () => {
  if (view === undefined && currentKey() !== undefined) start()
})
setInterval(() => view?.tick?.(), 1000)
start()
