/** The dashboard of a workspace: its views, and the stream of changes that keeps them up to date. */
import {byId, element, setHidden, setText} from '../../../pages/parts/elements.js'
import {currentKey} from '../../../pages/parts/key.js'
import {setLink} from '../../../pages/parts/link.js'
import {LiveStream} from '../../../pages/parts/live.js'
import {Unreachable} from '../../../pages/parts/request.js'
import {addressOf, onRoute} from '../../../pages/parts/router.js'
import {call, loadMethods} from './operations.js'
import {tasksView} from './tasks.js'

/** Views by the first segment of the address. */
const views = [{name: 'tasks', words: 'Tasks', open: tasksView}]

const lostText = 'The connection to svc dashboard is lost. The page continues when it runs again.'
const refusedText = 'The key in the address of this page is not valid. Open the address that svc dashboard prints.'
const daemonText = 'No daemon runs the queued tasks of this workspace. Start one with svc daemon start.'

/** Interval at which the status is read without a change, ms: the end of a daemon is not an event. */
const statusMs = 3000

let view
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
  view = found.open({...route, segments: rest}, {showFault})
  const title = element('h2', {tabIndex: -1}, view.title)
  byId('view').replaceChildren(
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
let isReading = false
let isStatusDue = false
/** Reads the status, at most one request at a time. */
async function readStatus() {
  isStatusDue = isReading
  if (isReading) return
  isReading = true
  try {
    status = await call('orch.status')
    view?.showStatus?.(status)
    showLink()
  } catch (error) {
    showFault(error)
  } finally {
    isReading = false
    if (isStatusDue) readStatus()
  }
}

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

async function start() {
  if (currentKey() === undefined) return setLink('lost', 'Not allowed', refusedText)
  stream.open()
  try {
    setText(byId('workspace'), await loadMethods())
  } catch (error) {
    return error instanceof Unreachable ? setTimeout(start, 1000) : undefined
  }
  onRoute(showView)
}

addEventListener('hashchange', () => {
  if (view === undefined && currentKey() !== undefined) start()
})
setInterval(() => view?.tick?.(), 1000)
setInterval(() => {
  if (isOpen && !document.hidden) readStatus()
}, statusMs)
start()
