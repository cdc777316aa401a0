/** State of the connections from the page to the dashboard and from there to the control plane. */
import {announce, byId, setHidden, setText} from '../../../../pages/parts/elements.js'
import {timeFormat} from '../../../../pages/parts/format.js'

const linkWords = {
  connecting: 'Connecting',
  answers: 'Connected',
  busy: 'Control plane reports errors',
  away: 'Control plane not reachable',
  lost: 'Dashboard not reachable',
}
let linkNow = 'connecting'

export function setLink(state, text) {
  const pill = byId('link')
  if (linkNow !== state) {
    if (linkNow !== 'connecting' || state !== 'answers') announce(`${linkWords[state]}. ${text}`)
    linkNow = state
  }
  pill.dataset.link = state
  setText(pill.firstElementChild, linkWords[state])
  const banner = byId('banner')
  banner.dataset.link = state
  setText(banner, text)
  setHidden(banner, text === '')
  document.querySelector('main').classList.toggle('old', state === 'away' || state === 'lost')
}

export function showLink({url, answers, fault, answered_unix_ms: answered}) {
  setText(byId('address'), url)
  setText(byId('nodes-command'), `svc mesh join --control-url ${url}`)
  const last =
    answered === undefined
      ? ' It has not responded yet.'
      : ` Last response at ${timeFormat.format(answered)}; the page shows the data of that time.`
  setLink(answers ? (fault === undefined ? 'answers' : 'busy') : 'away', (fault ?? '') + (answers ? '' : last))
  document.title = answers ? 'Mesh' : 'Mesh · not reachable'
}
