import {watch} from 'node:fs'
import {Flags} from '@oclif/core'
import type {AppServer} from '../../src/app-server/index.js'
import {DbCommand, databaseFlag, programArg, programFlag, type Source, settingFlags} from '../../src/cli/index.js'
import {appSettings} from '../../src/config/index.js'
import {asText, SvcError} from '../../src/errors/index.js'
import type {Program} from '../../src/lang/index.js'

/** How long running requests may go on once the server is asked to stop, ms. */
const drainMs = 5000
/** Editors write a file in several steps: looked at when it has been quiet for so long, ms. */
const settleMs = 100

export default class DbServe extends DbCommand<typeof DbServe> {
  static override summary = 'Serve the endpoints and routes of a program.'
  static override description =
    `Query endpoints answer GET /api/query/NAME, mutations POST /api/mutation/NAME, server endpoints POST /api/NAME, http routes
their own path; GET /api/live/TOPIC is a stream of changes. A page to try them and the OpenAPI document lie under /_svc/.
The database is migrated first by the steps that lose nothing; a step that needs a decision ends the command with 3.`
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
    watch: Flags.boolean({char: 'w', description: 'Serve the program anew when its file changes.'}),
    'no-migrate': Flags.boolean({description: 'Change no table; refuse where the database does not fit.'}),
    'token-env': Flags.string({
      description: 'Name of the environment variable that holds the token clients must send.',
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
    this.output.notice(`Listening on ${server.baseUrl}, serving ${source.path}; try ${server.baseUrl}/_svc/`)
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

  /** Serves each new version of the program; one with errors is told, and the old one goes on. */
  async #watch(path: string, replace: (source: Source, program: Program) => Promise<void>): Promise<void> {
    const {signal} = this
    let timer: NodeJS.Timeout | undefined
    let running = Promise.resolve()
    const look = async () => {
      try {
        const {source, program} = await this.#read(path)
        await replace(source, program)
        this.output.notice(`Serving ${source.path} anew.`)
        await this.output.event({event: 'reloaded', routes: program.routes.length})
      } catch (error) {
        process.stderr.write(asText(SvcError.from(error)))
      }
    }
    const {dirname, basename} = await import('node:path')
    // The folder is watched, since editors replace the file.
    const watcher = watch(dirname(path) || '.', (_event, name) => {
      if (name !== basename(path)) return
      clearTimeout(timer)
      timer = setTimeout(() => {
        running = running.then(look)
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
