import assert from 'node:assert/strict'
import {realpath} from 'node:fs/promises'
import {after, type TestContext} from 'node:test'
import {
  Client,
  type ClientCapabilities,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
  type Transport,
} from '@modelcontextprotocol/client'
import {StdioClientTransport} from '@modelcontextprotocol/client/stdio'
import {contractViolations} from '../../src/contracts/index.js'
import type {Envelope} from '../../src/mcp/index.js'
import {projectFile} from '../support/project.js'
import {type SvcOptions, svcBinary} from '../support/svc.js'
import {startInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import type {newest} from './modern.js'

export type After = Pick<TestContext, 'after'>

/** Long enough for any test call on a slow machine, ms. */
export const patience = {timeout: 300_000}

/** Lifetime of resources that all tests of a file or suite share. */
export function shared(): After {
  const ends: (() => unknown)[] = []
  after(async () => {
    for (const end of ends.reverse()) await end()
  })
  return {after: (end: () => unknown) => void ends.push(end)} as After
}

/** Creates a resource on first use and shares it between all tests. */
export function once<T>(make: (test: After) => Promise<T>): () => Promise<T> {
  const test = shared()
  let made: Promise<T> | undefined
  return () => {
    made ??= make(test)
    return made
  }
}

/** Creates a workspace folder. */
export async function workspace(test: After, files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await realpath(await temporaryFolder(test))
  await writeFiles(folder, {'Svc.toml': '', ...files})
  return folder
}

/** Minimal environment of a server, plus the given variables. */
export const environment = (cwd: string, env: Readonly<Record<string, string>> = {}) => ({
  PATH: process.env.PATH ?? '',
  HOME: cwd,
  ...env,
})

interface ClientChoices {
  capabilities?: ClientCapabilities
  /** Called before the client connects, to set handlers. */
  prepare?: (client: Client) => void
  /** Protocol revision; by default, the client begins with the handshake of earlier revisions. */
  revision?: typeof newest
}

export interface ConnectOptions extends ClientChoices {
  cwd: string
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
}

/** The official client, connected to the real binary over its standard input and output. */
export async function connect(test: After, {cwd, args = [], env = {}, ...choices}: ConnectOptions) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [svcBinary, 'mcp', 'serve', ...args],
    cwd,
    env: environment(cwd, env),
    stderr: 'pipe',
  })
  let stderr = ''
  transport.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  const client = await opened(test, transport, choices)
  return Object.assign(toolClient(client), {stderr: () => stderr, pid: transport.pid as number})
}

async function opened(
  test: After,
  transport: Transport,
  {capabilities = {}, prepare, revision}: ClientChoices,
): Promise<Client> {
  const versionNegotiation = revision === undefined ? {} : {versionNegotiation: {mode: {pin: revision}}}
  const client = new Client({name: 'test', version: '1'}, {capabilities, ...versionNegotiation})
  prepare?.(client)
  test.after(() => client.close())
  await client.connect(transport, patience)
  return client
}

/** Calls tools and validates every result against the contract. */
function toolClient(client: Client) {
  const envelope = async (
    name: string,
    args: Record<string, unknown> = {},
    options: object = {},
  ): Promise<Envelope> => {
    const result = await client.callTool({name, arguments: args}, {...patience, ...options})
    const received = result.structuredContent as unknown as Envelope
    assert.deepEqual(await contractViolations('cli/mcp-call.v1', received), [], JSON.stringify(received))
    const [part, ...others] = result.content as {type: string; text: string}[]
    assert.deepEqual([part?.type, others], ['text', []])
    assert.equal(part?.text, JSON.stringify(received))
    assert.equal(result.isError, !received.success)
    return received
  }
  return {
    client,
    envelope,
    /** Calls a tool that must succeed, and returns its data. */
    async call<T = Record<string, unknown>>(name: string, args: Record<string, unknown> = {}, options: object = {}) {
      const result = await envelope(name, args, options)
      assert.ok(result.success, JSON.stringify(result))
      return result.data as T
    },
    /** Calls a tool that must fail with `code`. */
    async fails(code: string, name: string, args: Record<string, unknown> = {}): Promise<Envelope> {
      const result = await envelope(name, args)
      assert.deepEqual([result.success, result.code], [false, code], JSON.stringify(result))
      return result
    },
  }
}

/** Starts `svc mcp serve` as an HTTP server in a separate process. */
export async function startHttp(
  test: After,
  {cwd, args = [], env = {}}: {cwd: string; args?: readonly string[]; env?: SvcOptions['env']},
) {
  const address = args.includes('--http') ? [] : ['--http', '127.0.0.1:0']
  const running = startInTurn(['mcp', 'serve', ...address, '--json', ...args], {cwd, env: {HOME: cwd, ...env}})
  test.after(running.close)
  while (running.lines.length === 0) await running.told()
  const ready = JSON.parse(running.lines[0] ?? '')
  assert.deepEqual(await contractViolations('cli/mcp-ready.v1', ready), [])
  const url = new URL('/mcp', ready.base_url)
  return {
    url,
    stderr: running.stderr,
    /** Sends the signal and returns the exit status. */
    async stop(signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM') {
      running.signal(signal)
      return (await running.ended).exitCode
    },
    /** The official client, connected to it. */
    async connect(choices: ClientChoices = {}, options: StreamableHTTPClientTransportOptions = {}) {
      const transport = new StreamableHTTPClientTransport(url, options)
      const client = await opened(test, transport, choices)
      return Object.assign(toolClient(client), {transport})
    },
  }
}

export const starter = projectFile('examples/models/starter')
export const hello = projectFile('examples/hello.wav')

/** First message of a client. */
export const initialize = (protocolVersion = '2025-11-25') => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {protocolVersion, capabilities: {}, clientInfo: {name: 'test', version: '1'}},
})
