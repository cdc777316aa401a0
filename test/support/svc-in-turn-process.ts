/**
 * Runs command lines in turn on request of `svc-in-turn.ts`. Each has its own folder, environment, arguments and
 * standard input, and ends when the event loop is empty, like a separate process. A command line with an open timer or
 * connection does not end here either.
 */
import {Readable, Writable} from 'node:stream'
import {openPaths} from './open-paths.js'
import {projectFile} from './project.js'
import type {CommandLine, Ended} from './svc-in-turn.js'

// Imports the bundle of the executable, because the compiled modules would be second instances.
const {main} = (await import(projectFile('dist/bundle/main.js'))) as typeof import('../../src/cli/main.js')
const {configureLog} = (await import(projectFile('dist/bundle/log.js'))) as typeof import('../../src/log/index.js')

/** Exit status of Node for an unsettled top-level await. */
const unsettled = 13

let running: {mark: string; files: number; settled: boolean} | undefined

/** Files of the event loops of Node, which stay open after the first watch or thread. */
const isOfNode = /^(anon_inode|pipe):/

/** Number of open files and sockets; 0 on systems without `/proc`. */
const openFiles = (): number => openPaths().filter((path) => !isOfNode.test(path)).length

/** Ignores signals for a command line that has just ended. */
const ignore = () => undefined
const signals = ['SIGINT', 'SIGTERM'] as const

process.on('message', ({args, cwd, env, input, mark}: CommandLine) => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.chdir(cwd)
  process.argv.splice(2, Infinity, ...args)
  const stdin = Readable.from(pieces(input), {objectMode: false})
  Object.defineProperty(process, 'stdin', {value: stdin, configurable: true})
  configureLog({filter: 'warn', format: 'auto'})
  const own = {mark, files: openFiles(), settled: false}
  running = own
  for (const signal of signals) process.off(signal, ignore)
  process.channel?.unref()
  void main(args).then(() => {
    own.settled = true
  })
})

process.on('beforeExit', () => {
  if (running === undefined || !process.connected) return
  const own = running
  running = undefined
  void end(own)
})

/** Reports the end of a command line. */
async function end({mark, files, settled}: {mark: string; files: number; settled: boolean}): Promise<void> {
  const exitCode = settled ? Number(process.exitCode ?? 0) : unsettled
  // An MCP server takes over standard output for the rest of its process.
  Reflect.deleteProperty(process.stdout, 'write')
  await closeConnections()
  const isAsBefore = settled && openFiles() === files
  const ended: Ended = {exitCode, isAsBefore}
  for (const signal of signals) process.on(signal, ignore)
  process.exitCode = undefined
  for (const stream of [process.stdout, process.stderr]) Writable.prototype.write.call(stream, mark, 'utf8')
  process.channel?.ref()
  process.send?.(ended)
}

/** Replaces the dispatcher of undici and `fetch`, whose idle connections stay open for a few seconds. */
async function closeConnections(): Promise<void> {
  const place = Symbol.for('undici.globalDispatcher.1')
  const {[place]: used} = globalThis as {[place]?: {close(): Promise<void>}}
  if (used === undefined) return
  Object.assign(globalThis, {[place]: new (used.constructor as new () => typeof used)()})
  await used.close()
}

/** Splits input into chunks of the size that a pipe delivers. */
function* pieces(input: string | Uint8Array): Generator<Buffer> {
  const bytes = Buffer.from(input as Uint8Array)
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}
