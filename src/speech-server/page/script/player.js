/** The audio that is transcribed: player and waveform. */
import {byId, setHidden} from '../../../pages/parts/elements.js'
import {Waveform} from './waveform.js'

const audio = byId('audio')
const canvas = byId('waveform')
export const waveform = new Waveform(canvas)
let url
let onTime = () => undefined

/** Calls a function with the position, seconds, whenever it changes. */
export function followTime(listener) {
  onTime = listener
}

/** Shows a file, or nothing if it is undefined. The waveform follows when it is known. */
export function openAudio(file) {
  if (url !== undefined) URL.revokeObjectURL(url)
  url = file === undefined ? undefined : URL.createObjectURL(file)
  if (url === undefined) audio.removeAttribute('src')
  else audio.src = url
  setHidden(audio, file === undefined)
  setHidden(byId('player'), file === undefined && canvas.hidden)
}

/** Shows the waveform of samples, or an empty one that grows; hides it for undefined. */
export function showWaveform(samples, {isLive = false} = {}) {
  setHidden(canvas, samples === undefined)
  setHidden(byId('player'), audio.hidden && samples === undefined)
  waveform.isLive = isLive
  waveform.clear()
  if (samples !== undefined) waveform.push(samples)
}

/** Plays from a position, seconds. */
export function playFrom(seconds) {
  audio.currentTime = seconds
  // Rejects if the browser cannot decode the file, which the player shows.
  audio.play().catch(() => undefined)
}

canvas.onpointerdown = ({offsetX}) => {
  if (!waveform.isLive && audio.duration > 0) audio.currentTime = (audio.duration * offsetX) / canvas.clientWidth
}

function follow() {
  onTime(audio.currentTime)
  waveform.setPlayed(audio.duration > 0 ? audio.currentTime / audio.duration : 0)
}

/** The event `timeupdate` comes four times a second, too late for words. */
function followFrames() {
  follow()
  if (!audio.paused) requestAnimationFrame(followFrames)
}
audio.onplay = followFrames
audio.onseeked = follow
audio.ontimeupdate = follow
