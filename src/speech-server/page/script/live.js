/** Live recognition over WebSocket. */
import {rate} from './recording.js'
import {openSocket, send} from './server.js'

const path = '/api/audio/transcribe/stream'

/** Maximum samples of a message; the server accepts 1 MiB. */
const maxMessage = 10 * rate

/** Waits before attempts to connect again, ms; the last one is repeated. */
const delays = [200, 500, 1000, 2000]
/** Time without a connection after which the recording ends, ms. */
const patience = 60_000
/** Errors after which a session cannot be continued; the recording is, in a new one. */
const over = new Set(['speech_session_not_found', 'speech_gap_too_long'])

/**
 * Sends a recording while it grows. After a lost connection, continues the session of the server; if that is over, starts
 * another one after the last result. All of the recording is kept, so nothing is lost.
 */
export class LiveClient {
  #recording
  #onEvent
  #socket
  /** The session of the server: its id, its start in the recording, samples, and how much of it the server has. */
  #session = {id: undefined, start: 0, stored: 0, finals: 0}
  /** End of the last result in the recording, samples. */
  #finishedTo = 0
  /** Position of the next sample to send over the connection. */
  #next
  /** End of the recording, ms; known after the last sample. */
  #endMs = Infinity
  #attempt = 0
  #lostAt
  #isReady = false
  #isClosed = false
  /** Ends the connection: after the last result, or with an error. */
  close
  /** Resolves after the last result; rejects if the connection is lost for too long before. */
  finished

  /** @param onEvent receives `partial`, `final` and `error` events, and `link` when the connection is lost or back */
  constructor(recording, onEvent) {
    this.#recording = recording
    this.#onEvent = onEvent
    this.finished = new Promise((resolve, reject) => {
      this.close = (error) => {
        const socket = this.#socket
        this.#socket = undefined
        this.#isClosed = true
        socket?.close(1000)
        if (error === undefined) resolve()
        else reject(error)
      }
    })
    this.finished.catch(() => undefined)
    this.#connect()
  }

  #connect() {
    if (this.#isClosed) return
    const {id, start, stored, finals} = this.#session
    const resumed = id === undefined ? '' : `&session=${id}&from=${stored}&finals=${finals}`
    const socket = openSocket(`${path}?continuous=1${resumed}`)
    this.#socket = socket
    socket.onmessage = ({data}) => {
      const event = JSON.parse(data)
      if (event.type === 'ready') this.#enter(event, start + stored)
      else this.#take(event)
    }
    socket.onclose = () => {
      if (this.#socket === socket) this.#reconnect()
    }
  }

  #enter({session_id: id, next_sample: nextSample}, position) {
    // Without next_sample, the server keeps no sessions.
    if (nextSample !== undefined) this.#session.id = id
    if (this.#attempt > 0) this.#onEvent({type: 'link', isConnected: true})
    this.#attempt = 0
    this.#lostAt = undefined
    this.#isReady = true
    this.#next = position
    this.pump()
    if (this.#endMs < Infinity) this.#commit()
  }

  async #reconnect() {
    const wasReady = this.#isReady
    this.#isReady = false
    this.#socket = undefined
    const reason = await lossReason(this.#session.id)
    // A first connection that fails is not tried again.
    if (!wasReady && this.#attempt === 0) return this.close(reason)
    this.#lostAt ??= performance.now()
    const isHopeless = reason.status >= 400 && reason.status < 500 && !over.has(reason.code)
    if (isHopeless || performance.now() - this.#lostAt > patience) return this.close(reason)
    if (over.has(reason.code) || this.#session.id === undefined)
      this.#session = {id: undefined, start: this.#finishedTo, stored: 0, finals: 0}
    if (this.#attempt === 0) this.#onEvent({type: 'link', isConnected: false})
    setTimeout(() => this.#connect(), delays[Math.min(this.#attempt++, delays.length - 1)])
  }

  #take(event) {
    const {start} = this.#session
    const offset = Math.round((1000 * start) / rate)
    if (event.next_sample !== undefined) this.#session.stored = Math.max(this.#session.stored, event.next_sample)
    const at = (ms) => (ms === undefined ? undefined : ms + offset)
    const shifted = {...event, start_ms: at(event.start_ms), end_ms: at(event.end_ms)}
    this.#onEvent(shifted)
    if (event.utterance === undefined) return
    this.#session.finals = event.utterance + 1
    this.#finishedTo = Math.round((shifted.end_ms * rate) / 1000)
    // Results are in order, so the one that reaches the end is the last.
    if (shifted.end_ms >= this.#endMs) this.close()
  }

  /** Sends the samples that were recorded since the last call. */
  pump() {
    while (this.#isReady && this.#socket?.readyState === WebSocket.OPEN && this.#next < this.#recording.length) {
      const samples = this.#recording.from(this.#next, maxMessage)
      this.#socket.send(samples)
      this.#next += samples.length
    }
  }

  /** Ends the recording, and waits for its last result. */
  finish() {
    this.#endMs = Math.floor((1000 * this.#recording.length) / rate)
    if (this.#isReady) this.#commit()
    return this.finished
  }

  #commit() {
    this.pump()
    this.#socket.send(JSON.stringify({op: 'commit'}))
  }
}

/** Why a connection failed. A browser does not tell, but a request to the same route does, for instance if it is full. */
async function lossReason(session) {
  try {
    await send(session === undefined ? path : `${path}?session=${session}`)
  } catch (error) {
    if (error.code !== 'bad_request') return error
  }
  return new Error('The connection to the server was lost. The audio so far is kept on this page.')
}
