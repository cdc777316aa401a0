import {connect} from 'node:net'
import type {Copy} from '../history/history.js'
import {type RequestFrame, statusOf} from './request-frame.js'

export interface ForwardOptions {
  port: number
  /** Only so many bytes, then the connection breaks. */
  cutAt?: number | undefined
  /** The writing side is closed behind the request. */
  isHalfClosed?: boolean | undefined
  onForwarded?: (() => void) | undefined
  /** The first bytes of the answer are there. */
  onAnswer?: (() => void) | undefined
}

/** A request on a connection of its own to the server. */
export interface ForwardedRequest {
  /** Undefined where the server did not get the whole request. */
  readonly copy: Copy | undefined
  /** The whole answer; undefined where none came. */
  readonly answer: Promise<Buffer | undefined>
  /** The server is gone: the request has no effect any more. */
  lapse(): void
}

/**
 * Sends a request to the server, and stays until it is answered, also where nobody waits for the answer: so it is known
 * when the request has had its effect.
 */
export function send({bytes}: RequestFrame, options: ForwardOptions): ForwardedRequest {
  const {port, cutAt, isHalfClosed = false, onForwarded, onAnswer} = options
  let copy: Copy | undefined
  const chunks: Buffer[] = []
  const socket = connect({port, host: '127.0.0.1', allowHalfOpen: true})
  socket.setNoDelay(true)
  const answer = new Promise<Buffer | undefined>((resolve) => {
    const end = () => {
      socket.destroy()
      if (copy?.status !== undefined) copy.settled ??= performance.now()
      resolve(copy?.status === undefined ? undefined : Buffer.concat(chunks))
    }
    socket.once('connect', () => {
      if (cutAt !== undefined) {
        socket.write(bytes.subarray(0, cutAt), () => socket.destroy())
        return
      }
      copy = {forwarded: performance.now()}
      socket.write(bytes)
      if (isHalfClosed) socket.end()
      onForwarded?.()
    })
    socket.on('data', (chunk: Buffer) => {
      const isFirst = chunks.length === 0
      chunks.push(chunk)
      if (!isFirst || copy === undefined) return
      const status = statusOf(chunk)
      if (status !== undefined) copy.status = status
      onAnswer?.()
    })
    socket.once('end', end)
    socket.once('close', end)
    socket.on('error', () => undefined)
  })
  return {
    get copy() {
      return copy
    },
    answer,
    lapse() {
      if (copy !== undefined) copy.settled ??= performance.now()
    },
  }
}
