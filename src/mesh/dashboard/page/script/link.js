/** State of the connections from the page to the dashboard and from there to the control plane. */
import {byId, setText} from '../../../../pages/parts/elements.js'
import {timeFormat} from '../../../../pages/parts/format.js'
import {setLink} from '../../../../pages/parts/link.js'

const lostText = 'The connection to svc mesh dashboard is lost. The page continues when it runs again.'
const refusedText = 'The key in the address of this page is not valid. Open the address that svc mesh dashboard prints.'

/** Shows the state of the control plane. */
export function showLink({url, answers, fault, answered_unix_ms: answered}) {
  setText(byId('address'), url)
  setText(byId('nodes-command'), `svc mesh join --control-url ${url}`)
  const last =
    answered === undefined
      ? ' It has not responded yet.'
      : ` Last response at ${timeFormat.format(answered)}; the page shows the data of that time.`
  if (!answers) setLink('away', 'Control plane not reachable', (fault ?? '') + last)
  else if (fault !== undefined) setLink('busy', 'Control plane reports errors', fault)
  else setLink('answers', 'Connected')
  document.title = answers ? 'Mesh' : 'Mesh · not reachable'
}

/** Shows that the dashboard does not answer. */
export function showLost() {
  setLink('lost', 'Dashboard not reachable', lostText)
  document.title = 'Mesh · lost'
}

/** Shows that the page needs another key. */
export function showRefused() {
  setLink('lost', 'Not allowed', refusedText)
  document.title = 'Mesh · not allowed'
}
