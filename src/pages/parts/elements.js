/** Helpers for DOM elements. */

export const byId = (id) => document.getElementById(id)

export function element(name, properties, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value
    else made.setAttribute(key, value)
  }
  made.append(...children)
  return made
}

/** Sets the text only if it differs, to avoid needless DOM changes. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text
}

export function setHidden(target, isHidden) {
  if (target.hidden !== isHidden) target.hidden = isHidden
}

/** Rebuilds the content of an element if its source has changed. */
export function fill(target, source, make) {
  const key = JSON.stringify(source)
  if (target.source === key) return
  target.source = key
  target.replaceChildren(...make())
}

const labelOf = (control) => control.href ?? control.ariaLabel ?? control.textContent

/** Replaces the content of an element. If the focus was in it, the same control of the new content gets it, or the title. */
export function replaceContent(target, ...content) {
  const {activeElement: focused} = document
  const hadFocus = focused !== target && target.contains(focused)
  target.replaceChildren(...content)
  if (!hadFocus) return
  const same = [...target.querySelectorAll(focused.tagName)].find((each) => labelOf(each) === labelOf(focused))
  const next = same ?? document.querySelector('main [tabindex="-1"]')
  next?.focus({preventScroll: true})
}

/** Announces a text to screen readers. */
export const announce = (text) => setText(byId('announcement'), text)

let toastTimer
export function toast(text) {
  setText(byId('toast'), text)
  clearTimeout(toastTimer)
  toastTimer = setTimeout(() => setText(byId('toast'), ''), 6000)
}
