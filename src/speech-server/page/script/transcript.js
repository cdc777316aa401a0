/** The transcript: segments whose words, or texts if they have no word times, play the audio from there. */
import {byId, element, setHidden} from '../../../pages/parts/elements.js'

/** Time for which a word stays highlighted after its end, seconds: shorter pauses would make the highlight flicker. */
const lingerSec = 0.4

const list = byId('segments')
let segments = []
/** What can be selected, in order: an element with its times, in seconds. */
let items = []
let current
let onSelect = () => undefined

/** Calls a function with the start of what the user selects, seconds. */
export function followSelection(listener) {
  onSelect = listener
}

/** The shown segments, in seconds. */
export const shownSegments = () => segments

export function clearTranscript() {
  segments = []
  items = []
  current = undefined
  list.replaceChildren()
  setHidden(byId('exports'), true)
  setHidden(byId('empty'), false)
}

/** Appends segments of the server, whose times are in milliseconds. */
export function addSegments(added) {
  const known = added.map(withSeconds).filter(({text}) => text !== '')
  segments.push(...known)
  list.append(...known.map(show))
  if (items.length > 0 && items.every(({button}) => button.tabIndex !== 0)) items[0].button.tabIndex = 0
  setHidden(byId('exports'), segments.length === 0)
  setHidden(byId('empty'), segments.length > 0)
}

function withSeconds({text, start_ms: start, end_ms: end, words}) {
  const timed = words === undefined ? undefined : wordsInText(text, words)
  return {text, startSec: start / 1000, endSec: end / 1000, ...(timed === undefined ? {} : {words: timed})}
}

/**
 * Words with the spaces between them, which the server leaves out.
 * @returns undefined if they are not the words of the text, which may have been corrected
 */
function wordsInText(text, words) {
  let at = 0
  const found = words.map(({word, start_ms: start, end_ms: end}) => {
    const begin = text.indexOf(word, at)
    const gap = text.slice(at, begin)
    if (begin === -1 || gap.trim() !== '') return undefined
    at = begin + word.length
    return {word: gap + word, startSec: start / 1000, endSec: end / 1000}
  })
  return found.includes(undefined) || text.slice(at).trim() !== '' ? undefined : found
}

function show({text, startSec, endSec, words}) {
  const parts = words ?? [{word: text, startSec, endSec}]
  const said = element('p', {className: 'said'})
  for (const part of parts) {
    const button = element('button', {type: 'button', tabIndex: -1}, part.word.trim())
    items.push({button, startSec: part.startSec, endSec: part.endSec})
    said.append(/^\s/.test(part.word) ? ' ' : '', button)
  }
  return element('li', {}, element('span', {className: 'time'}, clock(startSec)), said)
}

/** Formats a time: 0:07, 12:34, 1:02:03. */
export function clock(seconds) {
  const whole = Math.floor(seconds)
  const two = (value) => String(value).padStart(2, '0')
  const hours = Math.floor(whole / 3600)
  const minutes = Math.floor(whole / 60) % 60
  return `${hours === 0 ? minutes : `${hours}:${two(minutes)}`}:${two(whole % 60)}`
}

/** Highlights the word at a position of the audio, seconds. */
export function highlight(seconds) {
  const item = items.findLast(({startSec}) => startSec <= seconds)
  const next = item !== undefined && seconds < item.endSec + lingerSec ? item.button : undefined
  if (next === current) return
  // The page follows the audio unless the user has scrolled away from it.
  const isFollowing = current === undefined || isVisible(current)
  current?.removeAttribute('aria-current')
  next?.setAttribute('aria-current', 'true')
  if (isFollowing) next?.scrollIntoView({block: 'nearest'})
  current = next
}

function isVisible(button) {
  const {top, bottom} = button.getBoundingClientRect()
  return bottom > 0 && top < innerHeight
}

const itemOf = (target) => items.find(({button}) => button === target)

list.onclick = ({target}) => {
  const item = itemOf(target)
  if (item === undefined) return
  focus(item.button)
  onSelect(item.startSec)
}

/** Moves the focus. Only the word that had it last is reached with Tab. */
function focus(button) {
  for (const item of items) item.button.tabIndex = -1
  button.tabIndex = 0
  button.focus()
}

list.onkeydown = (event) => {
  const at = items.findIndex(({button}) => button === event.target)
  const next = moves[event.key]?.(at)
  if (at === -1 || next === undefined) return
  event.preventDefault()
  if (items[next] !== undefined) focus(items[next].button)
}

/** Index of the first word of the segment that many after that of a word; -1 if there is none. */
function besideSegment(at, offset) {
  const rows = [...list.children]
  const row = rows.indexOf(items[at].button.closest('li')) + offset
  return items.findIndex(({button}) => rows[row]?.contains(button))
}

const moves = {
  ArrowRight: (at) => at + 1,
  ArrowLeft: (at) => at - 1,
  ArrowDown: (at) => besideSegment(at, 1),
  ArrowUp: (at) => besideSegment(at, -1),
  Home: () => 0,
  End: () => items.length - 1,
}
