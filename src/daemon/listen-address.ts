import {SvcError} from '../errors/index.js'

export type ListenAddress = StdioAddress | TcpAddress

export interface StdioAddress {
  kind: 'stdio'
}

export interface TcpAddress {
  kind: 'tcp'
  /** Host name or IP address, without brackets. */
  host: string
  /** 0 for a free port. */
  port: number
}

/** Where a daemon listens unless an address is set. */
export const anyFreePort: TcpAddress = {kind: 'tcp', host: '127.0.0.1', port: 0}

const stdioWords = new Set(['stdio', '-', 'stdin'])
/** Words for no address. */
const noWords = new Set(['', '0', 'off'])
const hostPort = /^(?:tcp:\/\/)?(?:\[([0-9a-f:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/i

/**
 * Parses a listen address: `stdio`, `-` or `stdin` in any case; or `HOST:PORT`, optionally as `tcp://HOST:PORT`.
 * @returns undefined for `off`, `0` or an empty string
 * @throws daemon_address_invalid
 */
export function parseListen(value: string | undefined): ListenAddress | undefined {
  const text = value?.trim() ?? ''
  if (noWords.has(text.toLowerCase())) return undefined
  if (stdioWords.has(text.toLowerCase())) return {kind: 'stdio'}
  const [, literal, name, digits] = hostPort.exec(text) ?? []
  const host = literal ?? name
  const port = Number(digits)
  if (host === undefined || port > 65_535) throw new SvcError('daemon_address_invalid', {address: text})
  return {kind: 'tcp', host, port}
}

/**
 * Parses the address of a daemon for a client, from a setting that may also be a listen address.
 * @returns undefined if it is not a TCP address
 * @throws daemon_address_invalid
 */
export function parsePeer(value: string | undefined): TcpAddress | undefined {
  const address = parseListen(value)
  return address?.kind === 'tcp' ? address : undefined
}

/** Formats an address as `127.0.0.1:9745` or `[::1]:9745`. */
export const formatAddress = ({host, port}: Pick<TcpAddress, 'host' | 'port'>): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Replaces a wildcard address by loopback, for connections from this machine. */
export function reachable({host, port}: Pick<TcpAddress, 'host' | 'port'>): {host: string; port: number} {
  if (host === '0.0.0.0') return {host: '127.0.0.1', port}
  return {host: host === '::' ? '::1' : host, port}
}
