/** Event stream of the server, open only while the page is visible. After an interruption, it continues where it was. */
import {request, ServerFault} from './request.js'

/** Delay before the first attempt to connect again, and the longest, ms. */
const firstDelayMs = 250
const maxDelayMs = 5000

/**
 * Receives the events of a stream with a key in its requests, which `EventSource` cannot send.
 * @param on functions by the name of the event, which receive its data
 * @param onLink receives `connecting`, `answers`, `refused` (another key is needed) or `lost`
 */
export class LiveStream {
  #path
  #on
  #onLink
  #lastId
  #delayMs = firstDelayMs
  #attempt
  #timer
  #listening = new AbortController()

  constructor(path, on, onLink) {
    this.#path = path
    this.#on = on
    this.#onLink = onLink
    const {signal} = this.#listening
    document.addEventListener('visibilitychange', () => (document.hidden ? this.close() : this.open()), {signal})
    addEventListener('online', () => this.open(), {signal})
  }

  open() {
    this.close()
    this.#attempt = new AbortController()
    this.#receive(this.#attempt.signal)
  }

  close() {
    clearTimeout(this.#timer)
    this.#attempt?.abort()
  }

  /** Closes the stream for good. */
  stop() {
    this.#listening.abort()
    this.close()
  }

  async #receive(signal) {
    try {
      const headers = this.#lastId === undefined ? {} : {'last-event-id': this.#lastId}
      const {body} = await request(this.#path, {headers, signal})
      this.#delayMs = firstDelayMs
      this.#onLink('answers')
      const reader = body.pipeThrough(new TextDecoderStream()).getReader()
      let rest = ''
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        const frames = (rest + next.value).split('\n\n')
        rest = frames.pop()
        for (const frame of frames) this.#take(frame)
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ServerFault && error.status === 401) {
        this.#onLink('refused')
        return
      }
    }
    if (signal.aborted) return
    this.#onLink('lost')
    this.#timer = setTimeout(() => this.open(), this.#delayMs)
    this.#delayMs = Math.min(2 * this.#delayMs, maxDelayMs)
  }

  #take(frame) {
    const fields = new Map(
      frame.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    )
    if (fields.has('id')) this.#lastId = fields.get('id')
    if (fields.has('data')) this.#on[fields.get('event')]?.(JSON.parse(fields.get('data')))
  }
}
