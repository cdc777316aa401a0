/** Drawing of the loudness of audio over time. */
import {rate} from './recording.js'

/** Samples per peak. */
const step = rate / 50
/** Width of a bar and of the gap after it, CSS pixels. */
const barWidth = 2
const barStep = 3
/** Interval of a live drawing if the user prefers less motion, ms. */
const calmMs = 1000

const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)')

export class Waveform {
  #canvas
  #peaks = []
  #filled = 0
  /** Played part, 0 to 1. */
  #played = 0
  #isDue = false
  /** While live, the end is shown with a fixed scale; otherwise all of it. */
  isLive = false

  constructor(canvas) {
    this.#canvas = canvas
    new ResizeObserver(() => this.draw()).observe(canvas)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw())
  }

  clear() {
    this.#peaks = []
    this.#filled = 0
    this.#played = 0
    this.draw()
  }

  /** Adds 16-bit samples. */
  push(samples) {
    for (const sample of samples) {
      if (this.#filled % step === 0) this.#peaks.push(0)
      const last = this.#peaks.length - 1
      this.#peaks[last] = Math.max(this.#peaks[last], Math.abs(sample) / 32_768)
      this.#filled++
    }
    this.draw()
  }

  /** True if all samples are zero. */
  get isSilent() {
    return this.#peaks.every((peak) => peak === 0)
  }

  setPlayed(part) {
    this.#played = part
    this.draw()
  }

  /** Draws soon, once for all changes until then. */
  draw() {
    if (this.#isDue) return
    this.#isDue = true
    const drawNow = () => {
      this.#isDue = false
      this.#drawNow()
    }
    if (this.isLive && reducedMotion.matches) setTimeout(drawNow, calmMs)
    else requestAnimationFrame(drawNow)
  }

  #drawNow() {
    const {clientWidth: width, clientHeight: height} = this.#canvas
    if (width === 0) return
    const scale = devicePixelRatio
    this.#canvas.width = Math.round(width * scale)
    this.#canvas.height = Math.round(height * scale)
    const context = this.#canvas.getContext('2d')
    context.scale(scale, scale)
    const style = getComputedStyle(this.#canvas)
    const [played, rest] = [style.color, style.getPropertyValue('--line-strong')]
    const bars = Math.floor(width / barStep)
    const shown = this.isLive ? this.#peaks.slice(-bars) : this.#peaks
    const size = this.isLive ? 1 : shown.length / bars
    for (let i = 0; i < bars && i * size < shown.length; i++) {
      const from = Math.floor(i * size)
      let peak = 0
      for (let k = from; k < Math.max(from + 1, Math.floor((i + 1) * size)); k++) peak = Math.max(peak, shown[k])
      // The square root makes quiet speech visible.
      const length = Math.max(2, Math.sqrt(peak) * height)
      context.fillStyle = this.isLive || i < this.#played * bars ? played : rest
      context.fillRect(i * barStep, (height - length) / 2, barWidth, length)
    }
  }
}
