/** State of the connection between the page and its server, and of what the server needs. */
import {announce, byId, setHidden, setText} from './elements.js'

let now = 'connecting'

/**
 * Shows a state: `connecting`, `answers`, `busy`, `away` or `lost`.
 * @param words for the badge
 * @param text for the banner; empty: no banner
 */
export function setLink(state, words, text = '') {
  const pill = byId('link')
  if (now !== state) {
    if (now !== 'connecting' || state !== 'answers') announce(`${words}. ${text}`)
    now = state
  }
  pill.dataset.link = state
  setText(pill.firstElementChild, words)
  const banner = byId('banner')
  banner.dataset.link = state
  setText(banner, text)
  setHidden(banner, text === '')
  document.querySelector('main').classList.toggle('old', state === 'away' || state === 'lost')
}
