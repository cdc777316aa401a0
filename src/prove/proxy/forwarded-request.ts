import {connect} from 'node:net'
import type {Copy} from '../history/history.js'
import {type RequestFrame, statusOf} from './request-frame.js'

export interface ForwardOptions {
  port: number
  /** Number of bytes after which the connection breaks. */
  cutAt?: number | undefined
  /** Closes the sending side after the request. */
  isHalfClosed?: boolean | undefined
  onForwarded?: (() => void) | undefined
  /** Called when the first bytes of the response arrive. */
  onAnswer?: (() => void) | undefined
}

/** Request on its own connection to the server. */
export interface ForwardedRequest {
  /** Port of the server that it was sent to. */
  readonly port: number
  /** Undefined if the server did not receive the complete request. */
  readonly copy: Copy | undefined
  /** Complete response; undefined if none arrived. */
  readonly answer: Promise<Buffer | undefined>
  /** Marks the request as settled because the server has exited. */
  lapse(): void
}

/**
 * Sends a request to the server and waits for the response even if the client is gone, to learn when the request has
 * taken effect.
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
    port,
    get copy() {
      return copy
    },
    answer,
    lapse() {
      if (copy !== undefined) copy.settled ??= performance.now()
    },
  }
}
