import {watch} from 'node:fs'
import {Flags} from '@oclif/core'
import type {AppServer} from '../../src/app-server/index.js'
import {DbCommand, databaseFlag, programArg, programFlag, type Source, settingFlags} from '../../src/cli/index.js'
import {appSettings} from '../../src/config/index.js'
import {asText, SvcError} from '../../src/errors/index.js'
import type {Program} from '../../src/lang/index.js'

/** Time that running requests have to finish after the server was asked to stop, ms. */
const drainMs = 5000
/** Editors write a file in several steps: it is reloaded this long after the last change, ms. */
const settleMs = 100

export default class DbServe extends DbCommand<typeof DbServe> {
  static override summary = 'Serve a program over HTTP.'
  static override description =
    `Routes: GET /api/query/NAME for queries, POST /api/mutation/NAME for mutations, POST /api/NAME for server endpoints, and
the declared paths of http routes. GET /api/live/TOPIC streams changes as server-sent events. /_svc/ serves a page for
trying out the endpoints, and /_svc/openapi.json the OpenAPI document.

At startup, the database is migrated with steps that cannot lose data. Exits with status 3 if a step needs a decision;
see svc db migrate.`
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
    const {source, program} = await this.#read()
    let {port} = this.settings(appSettings)
    const {host} = this.settings(appSettings)
    const {isLoopback} = await import('../../src/net/index.js')
    if (token === undefined && !isLoopback(host))
      throw new SvcError('app_unprotected', {host, variable: this.flags['token-env']})
    let server = await this.#start(source, program, port, token)
    port = server.port
    await this.warnWithoutTls(server.host)
    await this.output.event({event: 'ready', base_url: server.baseUrl, pid: process.pid, routes: server.routes.length})
    this.output.notice(`Listening on ${server.baseUrl}, serving ${source.path}. Open ${server.baseUrl}/_svc/`)
    if (this.flags.watch)
      await this.#watch(source.path, async (changed, next) => {
        await server.close(drainMs)
        server = await this.#start(changed, next, port, token)
      })
    else await aborted(this.signal)
    await server.close(drainMs)
  }

  async #read(path?: string): Promise<{source: Source; program: Program}> {
    const read = await this.readProgram(path)
    await this.requireEnforced(read.source, read.program)
    return read
  }

  async #start(source: Source, program: Program, port: number, token: string | undefined): Promise<AppServer> {
    const path = this.flags['no-migrate']
      ? await this.fittingDatabase(program, (step) => step.class === 'auto' || step.blocking)
      : await this.prepareDatabase(program)
    const {startAppServer} = await import('../../src/app-server/index.js')
    const {host} = this.settings(appSettings)
    const title = source.path.replace(/^.*\//, '')
    return startAppServer(program, {address: {host, port}, path, ports: this.ports(), token, title})
  }

  /** Serves each new version of the program. Prints the errors of an invalid version and keeps serving the old one. */
  async #watch(path: string, replace: (source: Source, program: Program) => Promise<void>): Promise<void> {
    const {signal} = this
    let timer: NodeJS.Timeout | undefined
    let running = Promise.resolve()
    const reload = async () => {
      try {
        const {source, program} = await this.#read(path)
        await replace(source, program)
        this.output.notice(`Reloaded ${source.path}.`)
        await this.output.event({event: 'reloaded', routes: program.routes.length})
      } catch (error) {
        process.stderr.write(asText(SvcError.from(error)))
      }
    }
    const {dirname, basename} = await import('node:path')
    // Watches the folder, because editors replace the file.
    const watcher = watch(dirname(path) || '.', (_event, name) => {
      if (name !== basename(path)) return
      clearTimeout(timer)
      timer = setTimeout(() => {
        running = running.then(reload)
      }, settleMs)
    })
    await aborted(signal)
    clearTimeout(timer)
    watcher.close()
    await running
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), {once: true})
  })
