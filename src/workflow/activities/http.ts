import {lookup} from 'node:dns'
import {BlockList, isIP, isIPv6, type LookupFunction} from 'node:net'
import {Agent, request} from 'undici'
import {SvcError} from '../../errors/index.js'
import {parseForeignJson} from '../../files/index.js'
import {connectionFault, trustOptions} from '../../net/index.js'
import {type Executor, localEvent} from './executor.js'

/** Time limit of the connection, the headers, and between two parts of the body, ms. */
const idleTimeoutMs = 30_000

/**
 * Calls a host that the workflow lists. A name must not resolve to this machine or to a link-local address; those must be
 * listed themselves. Redirects are not followed, since they lead to other hosts.
 */
export const httpExecutor: Executor<'http'> = {
  type: 'work',
  async run({name, args: {url, method, headers, body, maxBytes}, hosts, key}, signal) {
    const target = targetOf(name, url, hosts)
    const fail = (reason: string) => new SvcError('workflow_activity_failed', {activity: name, reason})
    const dispatcher = new Agent({
      connect: {timeout: idleTimeoutMs, lookup: publicOnly, ...trustOptions()},
      headersTimeout: idleTimeoutMs,
      bodyTimeout: idleTimeoutMs,
    })
    try {
      const isText = typeof body === 'string'
      const response = await request(target, {
        dispatcher,
        method,
        signal,
        headers: {
          'idempotency-key': `${key.runId}/${key.activityId}`,
          ...(body === undefined || isText ? {} : {'content-type': 'application/json'}),
          ...headers,
        },
        body: body === undefined ? null : isText ? body : JSON.stringify(body),
      })
      const text = await readText(response.body, maxBytes, () => fail(`the response is larger than ${maxBytes} bytes`))
      const {statusCode: status} = response
      if (status >= 300) throw fail(`${target.host} answered with status ${status}`)
      const type = String(response.headers['content-type'] ?? '')
      return {result: {status, content_type: type, body: bodyOf(text, type)}, event: localEvent(name)}
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof SvcError) throw error
      throw connectionFault(target.host, error)
    } finally {
      await dispatcher.destroy()
    }
  },
}

/** @throws workflow_host_refused, workflow_activity_failed */
function targetOf(activity: string, url: string, hosts: readonly string[]): URL {
  const target = URL.canParse(url) ? new URL(url) : undefined
  if (target === undefined || !/^https?:$/.test(target.protocol) || target.username !== '' || target.password !== '')
    throw new SvcError('workflow_activity_failed', {
      activity,
      reason: 'its url is not an http or https URL without credentials',
    })
  const port = target.port || (target.protocol === 'https:' ? '443' : '80')
  const names = [target.hostname, target.host, `${target.hostname}:${port}`]
  if (!hosts.some((host) => names.includes(host.toLowerCase())))
    throw new SvcError('workflow_host_refused', {activity, host: target.host})
  return target
}

const refused = new BlockList()
refused.addSubnet('127.0.0.0', 8)
refused.addSubnet('0.0.0.0', 8)
refused.addSubnet('169.254.0.0', 16)
refused.addAddress('::1', 'ipv6')
refused.addAddress('::', 'ipv6')
refused.addSubnet('fe80::', 10, 'ipv6')

/** True for an address of this machine or a link-local one. */
export const isInternal = (address: string): boolean => refused.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')

/** Resolves a name. An address, and localhost, were listed as such; other names must not lead to this machine. */
const publicOnly: LookupFunction = (hostname, options, callback) => {
  if (isIP(hostname) !== 0 || hostname === 'localhost') return lookup(hostname, options, callback as never)
  lookup(hostname, {...options, all: true}, (error, addresses) => {
    if (error !== null) return callback(error, '', 0)
    const inner = addresses.find(({address}) => isInternal(address))
    if (inner !== undefined)
      return callback(new Error(`it resolves to ${inner.address}, which is not listed in hosts`), '', 0)
    const [first] = addresses
    if (options.all) return callback(null, addresses)
    callback(null, first?.address ?? '', first?.family ?? 4)
  })
}

async function readText(body: AsyncIterable<Buffer>, limit: number, tooLarge: () => Error): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > limit) throw tooLarge()
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

function bodyOf(text: string, type: string): unknown {
  if (!/^application\/([\w.+-]+\+)?json\b/i.test(type)) return text
  try {
    return parseForeignJson(text)
  } catch {
    return text
  }
}
