/** Live recognition over WebSocket. */
import {rate} from './recording.js'
import {openSocket, send} from './server.js'

const path = '/api/audio/transcribe/stream'

/** Maximum samples of a message; the server accepts 1 MiB. */
const maxMessage = 10 * rate

/**
 * Sends a recording while it grows. All of it is kept, so that a connection can start at any of its samples: `#connect`
 * is the only place that opens one.
 */
export class LiveClient {
  #recording
  #onEvent
  #socket
  /** Position of the next sample to send over the connection. */
  #next
  /** End of the recording, ms; known after the last sample. */
  #endMs = Infinity
  /** Ends the connection: after the last result, or with an error. */
  close
  /** Resolves after the last result; rejects if the connection is lost before. */
  finished

  /** @param onEvent receives `partial`, `final` and `error` events */
  constructor(recording, onEvent) {
    this.#recording = recording
    this.#onEvent = onEvent
    this.finished = new Promise((resolve, reject) => {
      this.close = (error) => {
        this.#socket?.close(1000)
        this.#socket = undefined
        if (error === undefined) resolve()
        else reject(error)
      }
    })
    this.finished.catch(() => undefined)
    this.#connect(0)
  }

  #connect(position) {
    const socket = openSocket(`${path}?continuous=1`)
    this.#socket = socket
    this.#next = position
    socket.onopen = () => {
      this.pump()
      if (this.#endMs < Infinity) this.#commit()
    }
    socket.onmessage = ({data}) => this.#take(JSON.parse(data))
    socket.onclose = async () => {
      if (this.#socket === socket) this.close(await lossReason())
    }
  }

  #take(event) {
    this.#onEvent(event)
    // Results are in order, so the one that reaches the end is the last. An error has no times.
    const isLast =
      event.type === 'final' ? event.end_ms >= this.#endMs : event.type === 'error' && this.#endMs < Infinity
    if (isLast) this.close()
  }

  /** Sends the samples that were recorded since the last call. */
  pump() {
    while (this.#socket?.readyState === WebSocket.OPEN && this.#next < this.#recording.length) {
      const samples = this.#recording.from(this.#next, maxMessage)
      this.#socket.send(samples)
      this.#next += samples.length
    }
  }

  /** Ends the recording, and waits for its last result. */
  finish() {
    this.#endMs = Math.floor((1000 * this.#recording.length) / rate)
    if (this.#socket?.readyState === WebSocket.OPEN) this.#commit()
    return this.finished
  }

  #commit() {
    this.pump()
    this.#socket.send(JSON.stringify({op: 'commit'}))
  }
}

/** Why a connection failed. A browser does not tell, but a request to the same route does, for instance if it is full. */
async function lossReason() {
  try {
    await send(path)
  } catch (error) {
    if (error.code !== 'bad_request') return error
  }
  return new Error('The connection to the server was lost. The audio so far is kept on this page.')
}
