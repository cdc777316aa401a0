import {resolve} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {Flags} from '@oclif/core'
import {describeEvent, type EventLog, OrchCommand, openEventLog, settingFlags} from '../../src/cli/index.js'
import {daemonSettings, meshNodeSettings} from '../../src/config/index.js'
import type {DaemonReadyV1} from '../../src/contracts/index.js'
import type {ListenAddress, Publication, publish as publishDaemon, RpcServer} from '../../src/daemon/index.js'
import {isErrorOf} from '../../src/errors/index.js'
import {daemonProtocol, type OperationBase} from '../../src/operations/index.js'
import type {Orchestrator} from '../../src/orchestrator/index.js'
import type {DaemonOptions} from '../../src/scheduler/index.js'

/** How long requests that have come may take to be answered once it is asked to stop, ms. */
const answerMs = 3000

/** Between two attempts to run the tasks that another process runs, ms. */
const retryMs = 1000

type Publish = typeof publishDaemon

/** The parts of this process. */
interface Daemon {
  base: OperationBase
  listen: ListenAddress | undefined
  server: RpcServer | undefined
  log: EventLog
  options: Pick<DaemonOptions, 'processors' | 'signal' | 'runsTasks' | 'drainMs'>
}

export default class DaemonRun extends OrchCommand<typeof DaemonRun> {
  static override summary = 'Run the tasks of the workspace, and answer requests, until it is stopped.'
  static override description =
    `Each agent runs one task at a time: with the inference server, or with a command template of the workspace. One daemon runs
per workspace; a second one ends with 4. Killed at any moment, the next one goes on with its tasks.

With --listen HOST:PORT programs can connect to it; port 0 takes a free one, and .svc/daemon.json says where it listens.
With --listen stdio it answers whoever started it, over standard input and output, until the input ends; where another
daemon runs the tasks already, it answers all the same. A request is a line of JSON, in the form of JSON-RPC 2.0 or as
{"id","method","params"}.

With --json the first line says that it is ready, and every event follows as a line. SIGTERM and SIGINT let running tasks
end for as long as --drain says; those that do not are queued again. Then it exits with 0.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json --drain 60 > events.jsonl &',
    '<%= config.bin %> <%= command.id %> --listen 127.0.0.1:9745',
    `echo '{"id":"1","method":"orch.status","params":{}}' | <%= config.bin %> <%= command.id %> --listen stdio`,
  ]
  static override flags = {
    ...settingFlags(daemonSettings, 'socket'),
    'allow-remote': Flags.boolean({
      description:
        'Listen where other machines can connect; takes a token of 16 characters or more in SVC_DAEMON_TOKEN.',
    }),
    drain: Flags.integer({
      description: 'How long running tasks may go on once it is asked to stop.',
      default: 10,
      min: 0,
      max: 86_400,
      helpValue: 'SECONDS',
    }),
  }

  /** Aborts when a client asks for the end, or nobody is left who could ask for anything. */
  readonly #over = new AbortController()
  /** Lines go out in their order; a reader that goes away ends the command by its signal. */
  #printed: Promise<void> = Promise.resolve()

  async run(): Promise<void> {
    const {socket, agentFleet} = this.settings(daemonSettings)
    const {parseListen} = await import('../../src/daemon/index.js')
    const listen = parseListen(socket)
    const ears = this.openSpeechPort()
    const base = await this.openOperations('daemon', ears)
    const processors = await this.#processors(base)
    const log = this.#openEventLog(base.orchestrator)
    try {
      const server = listen === undefined ? undefined : await this.#openServer(listen, base)
      const signal = AbortSignal.any([this.signal, this.#over.signal])
      let closed: Promise<void> | undefined
      const close = () => {
        closed ??= server?.close(answerMs)
      }
      signal.addEventListener('abort', close, {once: true})
      try {
        const daemon: Daemon = {
          base,
          listen,
          server,
          log,
          options: {processors, signal, runsTasks: agentFleet, drainMs: this.flags.drain * 1000},
        }
        const run = () => (listen?.kind === 'stdio' ? this.#runUnlessRun(daemon) : this.#runTasks(daemon))
        await (this.settings(meshNodeSettings).enabled ? this.#asNode(base, run) : run())
      } finally {
        close()
        await closed
      }
    } finally {
      log.close()
      await ears.close()
      await this.#printed
    }
  }

  /** The machine is a node of the mesh while it runs tasks. */
  async #asNode({orchestrator, sources, version}: OperationBase, run: () => Promise<void>): Promise<void> {
    const {whileAnnounced} = await import('../../src/mesh/index.js')
    const notice = (text: string) => this.output.notice(text)
    await whileAnnounced({sources, version, place: async () => orchestrator, notice}, run)
  }

  async #openServer(listen: ListenAddress, base: OperationBase): Promise<RpcServer> {
    const {modules, orchestrator} = base
    const {token, lineTimeoutMs} = this.settings(daemonSettings)
    const {openRpcServer} = await import('../../src/daemon/index.js')
    const server = await openRpcServer({
      listen,
      base: {
        ...base,
        orchestrator: await this.openBeside(orchestrator),
        onReload: async () => {
          await modules.reloadConfig(orchestrator, base.sources)
        },
      },
      token,
      allowRemote: this.flags['allow-remote'],
      lineTimeoutMs,
      onShutDown: () => this.#over.abort(),
    })
    server.ended.then(() => this.#over.abort())
    if (listen.kind === 'tcp') await this.warnWithoutTls(listen.host)
    return server
  }

  /** Where another process runs the tasks, waits until it does so no more; requests are answered all the while. */
  async #runUnlessRun(daemon: Daemon): Promise<void> {
    const {signal} = daemon.options
    for (let isLogged = false; ; isLogged = true)
      try {
        return await this.#runTasks(daemon)
      } catch (error) {
        if (!isErrorOf(error, 'daemon_running')) throw error
        const {pid, host} = error.params
        if (!isLogged) this.output.notice(`notice: process ${pid} on ${host} runs the tasks of this workspace.`)
        await sleep(retryMs, undefined, {signal}).catch(() => undefined)
        if (signal.aborted) return
      }
  }

  async #runTasks({base, listen, server, log, options}: Daemon): Promise<void> {
    const {modules, orchestrator} = base
    const isPrinting = this.output.json && listen?.kind !== 'stdio'
    let publication: Publication | undefined
    options.signal.addEventListener('abort', () => publication?.ending(), {once: true})
    try {
      const {publish} = await import('../../src/daemon/index.js')
      await modules.scheduler.runDaemon(orchestrator, {
        ...options,
        onReady: ({fence}, recovered) => {
          publication = this.#publish(publish, base, server)
          const {path: store} = orchestrator.store
          const addr = server?.address === undefined ? {} : {addr: server.address}
          const ready: DaemonReadyV1 = {event: 'ready', pid: process.pid, fence, recovered, store, ...addr}
          if (isPrinting) this.#print(ready)
          if (server?.address !== undefined) this.output.notice(`Listening on ${server.address}.`)
          const found = recovered === 0 ? '' : `; ${recovered} tasks of the last daemon are queued again`
          const {root} = this.workspace
          this.output.notice(
            options.runsTasks === false
              ? `Answering requests for ${root}${found}; SVC_MCP_AGENT_FLEET is off, so queued tasks are not run.`
              : `Running the tasks of ${root}${found}.`,
          )
        },
        onEvents: (events) => {
          log.append(events)
          const last = events.at(-1)
          if (last !== undefined) server?.notifyEvent(last.id)
          for (const event of events) {
            if (isPrinting) this.#print(event)
            else if (modules.tasks.isLogged(event.kind.type, orchestrator.config.logLevel))
              this.output.notice(describeEvent(event.kind, modules.tasks))
          }
        },
      })
    } finally {
      publication?.remove()
    }
  }

  /** A workspace that cannot be written to has a daemon that has to be told of by other means. */
  #publish(publish: Publish, {orchestrator}: OperationBase, server: RpcServer | undefined): Publication | undefined {
    try {
      return publish(this.workspace.root, {
        addr: server?.address ?? null,
        protocol: daemonProtocol,
        repository_id: orchestrator.repositoryId,
        started_at_ms: Date.now(),
      })
    } catch (error) {
      this.output.notice(`warning: svc daemon status will not find this daemon: ${(error as Error).message}`)
      return undefined
    }
  }

  #print(line: object): void {
    this.#printed = this.#printed.then(() => this.output.event(line)).catch(() => undefined)
  }

  #openEventLog({config, root}: Orchestrator): EventLog {
    const path = config.eventLog === undefined ? undefined : resolve(root, config.eventLog)
    return openEventLog(path, (fault) => this.output.notice(`warning: ${fault}`))
  }

  async #processors({modules, orchestrator}: OperationBase): Promise<DaemonOptions['processors']> {
    const {resolveEndpoint} = await import('../../src/inference-client/index.js')
    const {registerSecret} = await import('../../src/log/index.js')
    const {endpoint, warnings} = resolveEndpoint(this.settingSources())
    this.report(warnings)
    for (const secret of [endpoint.apiKey, this.settings(daemonSettings).token]) registerSecret(secret)
    return modules.scheduler.localProcessors(orchestrator, {endpoint, env: process.env})
  }
}
