import {SvcError} from '../errors/index.js'

/** Where a daemon answers requests. */
export type ListenAddress = StdioAddress | TcpAddress

export interface StdioAddress {
  kind: 'stdio'
}

export interface TcpAddress {
  kind: 'tcp'
  /** A name or an address, without brackets. */
  host: string
  /** 0 takes a free one. */
  port: number
}

const stdioWords = new Set(['stdio', '-', 'stdin'])
/** What stands for no address. */
const noWords = new Set(['', '0', 'off'])
const hostPort = /^(?:tcp:\/\/)?(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i

/**
 * Reads where to listen: `stdio`, `-` or `stdin` in any case; else `HOST:PORT`, also as `tcp://HOST:PORT`.
 * @returns undefined where it says nowhere: `off` or `0`
 * @throws daemon_address_invalid
 */
export function parseListen(given: string | undefined): ListenAddress | undefined {
  const text = given?.trim() ?? ''
  if (noWords.has(text.toLowerCase())) return undefined
  if (stdioWords.has(text.toLowerCase())) return {kind: 'stdio'}
  const [, literal, name, digits] = hostPort.exec(text) ?? []
  const host = literal ?? name
  const port = Number(digits)
  if (host === undefined || port > 65_535) throw new SvcError('daemon_address_invalid', {address: text})
  return {kind: 'tcp', host, port}
}

/**
 * Reads where a client finds the daemon, from what may also say where a daemon listens.
 * @returns undefined where it names no peer
 * @throws daemon_address_invalid
 */
export function parsePeer(given: string | undefined): TcpAddress | undefined {
  const address = parseListen(given)
  return address?.kind === 'tcp' ? address : undefined
}

/** `127.0.0.1:9745`, `[::1]:9745` */
export const formatAddress = ({host, port}: Pick<TcpAddress, 'host' | 'port'>): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Where this machine reaches what listens on all of its addresses. */
export function reachable({host, port}: Pick<TcpAddress, 'host' | 'port'>): {host: string; port: number} {
  if (host === '0.0.0.0') return {host: '127.0.0.1', port}
  return {host: host === '::' ? '::1' : host, port}
}
