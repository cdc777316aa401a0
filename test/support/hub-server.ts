import {createHash} from 'node:crypto'
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http'
import type {AddressInfo} from 'node:net'

/** A faulty response. */
export type HubFault =
  | {kind: 'status'; status: number; retryAfter?: string; headers?: Readonly<Record<string, string>>}
  /** Closes the connection after a number of bytes. */
  | {kind: 'drop'; after: number}
  /** Sends a number of bytes, calls `reached`, and keeps the connection open. */
  | {kind: 'stall'; after: number; reached: () => void}
  /** Sends other bytes of the same length. */
  | {kind: 'garbage'}
  /** Sends extra bytes at the end. */
  | {kind: 'surplus'}
  /** Sends bytes with a pause between chunks, ms. */
  | {kind: 'slow'; pauseMs: number}

export interface HubModel {
  commit: string
  revisions: readonly string[]
  files: Readonly<Record<string, string | Uint8Array>>
  /** Large files, which are identified by SHA-256 and redirected to another host. */
  large?: readonly string[]
  /** Those of the large files that are in Xet storage. */
  xet?: readonly string[]
  /** Required token. */
  token?: string
}

export interface HubRequest {
  url: string
  range: string | undefined
  authorization: string | undefined
  status: number
}

export interface TestHub {
  endpoint: string
  requests: HubRequest[]
  /** Faults of the next requests whose path contains a text; each is used once. */
  faults: {path: string; fault: HubFault}[]
  /** Whether range requests are supported. */
  ranges: boolean
  /** Replacements of file names in the list of files. */
  lies: Readonly<Record<string, string>>
}

/** Simulates the parts of Hugging Face that a download uses: a hub with models, and a second server for large files. */
export async function startHub(
  test: {after(close: () => void): void},
  models: Readonly<Record<string, HubModel>>,
): Promise<TestHub> {
  const hub: TestHub = {endpoint: '', requests: [], faults: [], ranges: true, lies: {}}
  const store = createServer((request, response) => answerStore(hub, models, request, response))
  const storeAddress = await listen(test, store)
  const server = createServer((request, response) => answerHub(hub, models, storeAddress, request, response))
  hub.endpoint = await listen(test, server)
  return hub
}

async function listen(test: {after(close: () => void): void}, server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function answerHub(
  hub: TestHub,
  models: Readonly<Record<string, HubModel>>,
  store: string,
  request: IncomingMessage,
  response: ServerResponse,
): unknown {
  const path = decodeURIComponent((request.url ?? '').split('?')[0] ?? '')
  const fault = takeFault(hub, path)
  if (fault?.kind === 'status')
    return reply(hub, request, response, fault.status, fault.headers ?? {}, '', fault.retryAfter)
  const listed = /^\/api\/models\/(.+)\/revision\/(.+)$/.exec(path)
  const file = /^\/(.+)\/resolve\/([^/]+)\/(.+)$/.exec(path)
  const [, id = '', revision = '', name = ''] = listed ?? file ?? []
  const model = models[id]
  if (model === undefined) return reply(hub, request, response, 404, {'x-error-code': 'RepoNotFound'}, 'unknown')
  if (model.token !== undefined && request.headers.authorization !== `Bearer ${model.token}`)
    return reply(hub, request, response, 401, {}, 'denied')
  if (revision !== model.commit && !model.revisions.includes(revision))
    return reply(hub, request, response, 404, {'x-error-code': 'RevisionNotFound'}, 'unknown')
  if (listed !== null) return reply(hub, request, response, 200, {}, JSON.stringify(listing(hub, id, model)))
  const content = model.files[name]
  if (content === undefined) return reply(hub, request, response, 404, {}, 'unknown')
  if (model.large?.includes(name)) {
    const headers = {...storageHeaders(hub, id, model, name, store), location: `${store}/${id}/${name}?signed`}
    return reply(hub, request, response, 302, headers, '')
  }
  return send(hub, request, response, Buffer.from(content), fault)
}

/**
 * What the hub says of a large file before it redirects. A client of Xet storage fetches the chunks of the file with these
 * links. Others follow the redirect to a server that joins the chunks, and supports ranges.
 */
function storageHeaders(hub: TestHub, id: string, model: HubModel, name: string, store: string) {
  const bytes = Buffer.from(model.files[name] ?? '')
  const linked = {
    'x-repo-commit': model.commit,
    'x-linked-size': String(bytes.length),
    'x-linked-etag': `"${createHash('sha256').update(bytes).digest('hex')}"`,
  }
  if (!model.xet?.includes(name)) return linked
  const hash = createHash('sha256').update('xet').update(bytes).digest('hex')
  const links = [
    `<${hub.endpoint}/api/models/${id}/xet-read-token/${model.commit}>; rel="xet-auth"`,
    `<${store}/v1/reconstructions/${hash}>; rel="xet-reconstruction-info"`,
  ]
  return {...linked, 'x-xet-hash': hash, link: links.join(', ')}
}

function answerStore(
  hub: TestHub,
  models: Readonly<Record<string, HubModel>>,
  request: IncomingMessage,
  response: ServerResponse,
): unknown {
  const path = decodeURIComponent((request.url ?? '').split('?')[0] ?? '').slice(1)
  const fault = takeFault(hub, `store/${path}`)
  if (fault?.kind === 'status')
    return reply(hub, request, response, fault.status, fault.headers ?? {}, '', fault.retryAfter)
  const id = Object.keys(models).find((one) => path.startsWith(`${one}/`)) ?? ''
  const content = models[id]?.files[path.slice(id.length + 1)]
  if (content === undefined) return reply(hub, request, response, 404, {}, 'unknown')
  return send(hub, request, response, Buffer.from(content), fault)
}

function takeFault(hub: TestHub, path: string): HubFault | undefined {
  const at = hub.faults.findIndex((row) => path.includes(row.path))
  return at < 0 ? undefined : hub.faults.splice(at, 1)[0]?.fault
}

function listing(hub: TestHub, id: string, model: HubModel) {
  return {
    id,
    sha: model.commit,
    siblings: Object.entries(model.files).map(([name, content]) => {
      const bytes = Buffer.from(content)
      const sha1 = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      const lfs = model.large?.includes(name) ? {lfs: {sha256, size: bytes.length, pointerSize: 130}} : {}
      return {rfilename: hub.lies[name] ?? name, size: bytes.length, blobId: sha1, ...lfs}
    }),
  }
}

function send(
  hub: TestHub,
  request: IncomingMessage,
  response: ServerResponse,
  content: Buffer,
  fault: HubFault | undefined,
): unknown {
  const start = hub.ranges ? Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0) : 0
  const body = fault?.kind === 'garbage' ? Buffer.alloc(content.length, 'x') : content
  const rest = fault?.kind === 'surplus' ? Buffer.concat([body, Buffer.from('surplus')]) : body.subarray(start)
  note(hub, request, start > 0 ? 206 : 200)
  response.writeHead(start > 0 ? 206 : 200, {
    'content-length': rest.length,
    ...(start > 0 ? {'content-range': `bytes ${start}-${content.length - 1}/${content.length}`} : {}),
  })
  if (fault?.kind === 'stall') return response.write(rest.subarray(0, fault.after), fault.reached)
  if (fault?.kind === 'drop') return response.write(rest.subarray(0, fault.after), () => response.destroy())
  return fault?.kind === 'slow' ? sendSlowly(response, rest, fault.pauseMs) : response.end(rest)
}

async function sendSlowly(response: ServerResponse, bytes: Buffer, pauseMs: number): Promise<void> {
  for (let at = 0; at < bytes.length && !response.destroyed; at += 1024) {
    response.write(bytes.subarray(at, at + 1024))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  response.end()
}

function reply(
  hub: TestHub,
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
  retryAfter?: string,
): unknown {
  note(hub, request, status)
  response.writeHead(status, {...headers, ...(retryAfter === undefined ? {} : {'retry-after': retryAfter})})
  return response.end(body)
}

const note = (hub: TestHub, {url = '', headers}: IncomingMessage, status: number) =>
  hub.requests.push({url, range: headers.range, authorization: headers.authorization, status})
