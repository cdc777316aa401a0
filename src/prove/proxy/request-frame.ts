import type {Socket} from 'node:net'

export interface RequestFrame {
  /** From its `x-request-id`; NaN for a program that sends none. */
  id: number
  method: string
  path: string
  bytes: Buffer
  /** Number of bytes before the body. */
  headLength: number
}

const endOfHead = Buffer.from('\r\n\r\n')

/** Reads one request from a connection; undefined if the connection ends early. */
export function readRequest(socket: Socket): Promise<RequestFrame | undefined> {
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0)
    const take = (chunk: Buffer) => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
      const frame = frameOf(bytes)
      if (frame !== undefined) done(frame)
    }
    const lost = () => done(undefined)
    const done = (frame: RequestFrame | undefined) => {
      socket.off('data', take).off('end', lost).off('close', lost)
      resolve(frame)
    }
    socket.on('data', take).on('end', lost).on('close', lost)
  })
}

/**
 * Parses a request; undefined if it is incomplete. The request is changed so that the server closes the connection after
 * its response.
 */
export function frameOf(bytes: Buffer): RequestFrame | undefined {
  const at = bytes.indexOf(endOfHead)
  if (at === -1) return undefined
  const head = bytes.toString('latin1', 0, at)
  const body = bytes.subarray(at + endOfHead.length)
  if (body.length < Number(headerOf(head, 'content-length') ?? 0)) return undefined
  const closing = Buffer.from(`${head.replace(/(\r\nconnection: *)keep-alive/i, '$1close')}\r\n\r\n`, 'latin1')
  const [method = '', path = ''] = head.split(' ', 2)
  return {
    id: Number(headerOf(head, 'x-request-id')?.replace('prove-', '')),
    method,
    path,
    bytes: Buffer.concat([closing, body]),
    headLength: closing.length,
  }
}

/** Value of a header of a request or response. */
export const headerOf = (head: string, name: string): string | undefined =>
  new RegExp(`\\r\\n${name}: *([^\\r]*)`, 'i').exec(head)?.[1]

export function statusOf(bytes: Buffer): number | undefined {
  const found = /^HTTP\/1\.[01] (\d{3}) /.exec(bytes.toString('latin1', 0, 16))?.[1]
  return found === undefined ? undefined : Number(found)
}
