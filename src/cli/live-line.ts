const clearLine = '\r\x1b[2K'
const dim = (text: string) => `\x1b[2m${text}\x1b[22m`

/** Heights of the level meter, from silence to full scale. */
const bars = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
/** Level of the lowest bar, dB relative to full scale. */
const lowestDb = -60

/** One character for the level of samples. */
function levelBar(samples: Float32Array): string {
  let sum = 0
  for (let i = 0; i < samples.length; i++) sum += samples[i]! ** 2
  const db = 10 * Math.log10(sum / Math.max(1, samples.length) + 1e-12)
  const step = Math.ceil((1 - db / lowestDb) * (bars.length - 1))
  return bars[Math.max(0, Math.min(bars.length - 1, step))] as string
}

/**
 * The terminal line of an utterance that is being spoken: level, stable words, and dimmed the words that may change. A text
 * that is too long loses its start.
 */
function liveLine(level: string, stable: string, text: string, columns: number): string {
  const all = Array.from(text)
  const tail = Array.from(text.slice(stable.length))
  const room = Math.max(1, columns - 3)
  const shown = all.slice(Math.max(0, all.length - room))
  const boundary = Math.max(0, shown.length - tail.length)
  return `${clearLine}${level} ${shown.slice(0, boundary).join('')}${dim(shown.slice(boundary).join(''))}`
}

/** The line of the terminal that shows the current utterance. */
export class LiveLine {
  readonly #isActive: boolean
  #level = ' '
  #stable = ''
  #text = ''

  /** @param isActive false: nothing is shown */
  constructor(isActive: boolean) {
    this.#isActive = isActive
  }

  level(samples: Float32Array): void {
    this.#level = levelBar(samples)
    this.#draw()
  }

  /** @param stable start of the text that does not change any more */
  show(stable: string, text: string): void {
    this.#stable = stable
    this.#text = text
    this.#draw()
  }

  clear(): void {
    this.#stable = ''
    this.#text = ''
    if (this.#isActive) process.stdout.write(clearLine)
  }

  #draw(): void {
    if (this.#isActive) process.stdout.write(liveLine(this.#level, this.#stable, this.#text, process.stdout.columns))
  }
}
