/** Whether the control plane answers, and whether this page hears of it. */
import {announce, byId, setHidden, setText} from './elements.js'
import {timeFormat} from './format.js'

const linkWords = {
  connecting: 'Connecting',
  answers: 'Control plane answers',
  busy: 'Control plane has errors',
  away: 'Control plane is away',
  lost: 'Dashboard has ended',
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
      ? ' It has not answered yet.'
      : ` Last seen at ${timeFormat.format(answered)}; what is shown is from then.`
  setLink(answers ? (fault === undefined ? 'answers' : 'busy') : 'away', (fault ?? '') + (answers ? '' : last))
  document.title = answers ? 'Mesh' : 'Mesh · away'
}
