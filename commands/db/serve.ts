import {watch} from 'node:fs/promises'
import {basename, dirname} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {Flags} from '@oclif/core'
import type {AppServer} from '../../src/app-server/index.js'
import {DbCommand, databaseFlag, programArg, programFlag, type Source, settingFlags} from '../../src/cli/index.js'
import {appSettings} from '../../src/config/index.js'
import {asText, counted, SvcError} from '../../src/errors/index.js'
import type {Program} from '../../src/lang/index.js'

/** Time that running requests have to finish after the server was asked to stop, ms. */
const drainMs = 5000
/** Maximum number of endpoints that are listed at the start. */
const maxListed = 30
/** Editors write a file in several steps: it is reloaded this long after the last change, ms. */
const settleMs = 100

export default class DbServe extends DbCommand<typeof DbServe> {
  static override summary = 'Serve a program over HTTP.'
  static override description =
    `Routes: GET /api/query/NAME for queries, POST /api/mutation/NAME for mutations, POST /api/NAME for server endpoints, and
the declared paths of http routes. POST /api/query/NAME takes the arguments of a query in the body. GET /api/live/TOPIC streams changes as server-sent events. /_svc/ serves a page for
trying out the endpoints, and /_svc/openapi.json the OpenAPI document. GET /health needs no token. Routes of the program
take precedence.

At startup, the database is migrated with steps that cannot lose data. Exits with status 3 if a step needs a decision;
see svc db migrate. After another process has migrated the database, the server continues if the program can still use it;
otherwise it answers with status 503 and exits with status 5.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> examples/todo.svc --watch',
    'curl -s http://127.0.0.1:3000/api/query/list',
    'curl -N http://127.0.0.1:3000/api/live/todos',
  ]
  static override args = {file: programArg}
  static override flags = {
    ...databaseFlag,
    ...programFlag,
    ...settingFlags(appSettings, 'host', 'port'),
    watch: Flags.boolean({char: 'w', description: 'Reload the program when its file changes.'}),
    'no-migrate': Flags.boolean({description: 'Do not migrate; fail if the database does not match the program.'}),
    'token-env': Flags.string({
      description: 'Environment variable that contains the token clients must send.',
      default: 'SVC_APP_TOKEN',
      helpValue: 'NAME',
    }),
  }

  async run(): Promise<void> {
    const {configureLog} = await import('../../src/log/index.js')
    const token = process.env[this.flags['token-env']]?.trim() || undefined
    const log = this.logOptions()
    configureLog({...log, secrets: [...log.secrets, ...(token === undefined ? [] : [token])]})
    let version = await this.#read()
    const {host} = this.settings(appSettings)
    let {port} = this.settings(appSettings)
    const {isExposed} = await import('../../src/net/index.js')
    if (isExposed(host, token !== undefined))
      throw new SvcError('app_unprotected', {host, variable: this.flags['token-env']})
    const waiting: Waiting = {stopped: this.untilStopped(), edited: this.#edits(version.source.path)}
    for (let isFirst = true; ; isFirst = false) {
      const {server, outdated} = await this.#start(version, port, token)
      port = server.port
      await this.noteDecorators(version.source, version.program)
      if (isFirst) await this.#announce(server, version)
      else {
        this.output.notice(`Reloaded ${version.source.path}.`)
        await this.output.event({event: 'reloaded', routes: version.program.routes.length})
      }
      let next: Version | undefined
      try {
        next = await this.#next(version, outdated, waiting)
      } finally {
        await server.close(drainMs)
      }
      if (next === undefined) return
      version = next
    }
  }

  async #read(path?: string): Promise<Version> {
    const read = await this.readProgram(path)
    await this.requireEnforced(read.source, read.program)
    return read
  }

  async #announce({host, baseUrl, routes}: AppServer, {source}: Version): Promise<void> {
    await this.warnWithoutTls(host)
    await this.output.event({event: 'ready', base_url: baseUrl, pid: process.pid, routes: routes.length})
    this.output.notice(`Listening on ${baseUrl}, serving ${source.path}. Open ${baseUrl}/_svc/`)
    for (const {method, path} of routes.slice(0, maxListed)) this.output.notice(`  ${method.padEnd(4)} ${path}`)
    const rest = routes.length - maxListed
    if (rest > 0) this.output.notice(`  and ${counted(rest, 'more endpoint')}, on the page`)
  }

  /** Starts a server. `outdated` resolves if another process has made the database useless for the program. */
  async #start(
    {source, program}: Version,
    port: number,
    token: string | undefined,
  ): Promise<{server: AppServer; outdated: Promise<SvcError>}> {
    const path = this.flags['no-migrate']
      ? await this.fittingDatabase(program, (step) => step.class === 'auto' || step.blocking)
      : await this.prepareDatabase(program)
    const {startAppServer} = await import('../../src/app-server/index.js')
    const {host} = this.settings(appSettings)
    const title = source.path.replace(/^.*\//, '')
    let onUnusable: (error: SvcError) => void = () => undefined
    const outdated = new Promise<SvcError>((resolve) => {
      onUnusable = resolve
    })
    const address = {host, port}
    const server = await startAppServer(program, {address, path, ports: this.ports(), token, title, onUnusable})
    return {server, outdated}
  }

  /**
   * Waits for the next version of the program; undefined if the server should stop. Prints the errors of a version that
   * cannot be served, and continues with the current one.
   * @throws schema_changed, store_moved
   */
  async #next(served: Version, outdated: Promise<SvcError>, {stopped, edited}: Waiting): Promise<Version | undefined> {
    for (;;) {
      const event = await Promise.race([stopped, outdated, edited()])
      if (this.signal.aborted) return undefined
      const next = this.flags.watch ? await this.#otherVersion(served) : undefined
      if (next !== undefined) return next
      if (event instanceof SvcError) throw event
    }
  }

  async #otherVersion(served: Version): Promise<Version | undefined> {
    try {
      const version = await this.#read(served.source.path)
      if (version.source.text === served.source.text) return undefined
      await this.fittingDatabase(version.program, (step) => step.blocking)
      return version
    } catch (error) {
      process.stderr.write(asText(SvcError.from(error)))
      return undefined
    }
  }

  /** Each call returns a promise of the next edit of a file that no earlier one has returned; of none without --watch. */
  #edits(path: string): () => Promise<unknown> {
    if (!this.flags.watch) return () => new Promise(() => undefined)
    const edits = editsOf(path, this.signal)
    // From now on, no edit is missed.
    let next = edits.next()
    let edited: Promise<void> | undefined
    return () => {
      edited ??= next.then(() => {
        next = edits.next()
        edited = undefined
      })
      return edited
    }
  }
}

interface Version {
  source: Source
  program: Program
}

interface Waiting {
  stopped: Promise<void>
  edited: () => Promise<unknown>
}

/** Yields after each edit of a file. Watches the folder, because editors replace the file. */
async function* editsOf(path: string, signal: AbortSignal): AsyncGenerator<undefined> {
  try {
    for await (const {filename} of watch(dirname(path), {signal})) {
      if (filename !== basename(path)) continue
      await sleep(settleMs)
      yield undefined
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}
