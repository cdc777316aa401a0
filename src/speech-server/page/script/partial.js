/** The text of live audio before it is final. */
import {announce, byId, element, setHidden, setText} from '../../../pages/parts/elements.js'

const stable = byId('stable')

/** Shows a partial result. Screen readers read each word once, when it is stable, because stable text only grows. */
export function showPartial({text, stable_text: stableText}) {
  // The page follows the text unless the user has scrolled away from the end.
  const isAtEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 100
  // An utterance can begin before the final text of the previous one.
  if (!stableText.startsWith(stable.textContent)) stable.replaceChildren()
  const added = stableText.slice(stable.textContent.length)
  if (added !== '') stable.append(element('span', {}, added))
  setText(byId('tail'), text.slice(stableText.length))
  setHidden(byId('partial'), text === '')
  if (isAtEnd) byId('partial').scrollIntoView({block: 'nearest'})
}

/** Removes the partial result for the final text, and announces what was not stable before. */
export function endPartial(text = '') {
  const known = stable.textContent
  announce(text.startsWith(known) ? text.slice(known.length) : text)
  stable.replaceChildren()
  setText(byId('tail'), '')
  setHidden(byId('partial'), true)
}
