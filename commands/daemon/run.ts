import {resolve} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {isatty} from 'node:tty'
import {Flags} from '@oclif/core'
import {
  describeEvent,
  type EventLog,
  OrchCommand,
  openEventLog,
  settingFlags,
  workflowPorts,
} from '../../src/cli/index.js'
import {daemonSettings, meshNodeSettings, meshSettings} from '../../src/config/index.js'
import type {DaemonReadyV1} from '../../src/contracts/index.js'
import type {ListenAddress, Publication, publish as publishDaemon, RpcServer} from '../../src/daemon/index.js'
import type {NodePoller, WorkerEvent} from '../../src/delegation/index.js'
import {counted, isErrorOf, SvcError} from '../../src/errors/index.js'
import {daemonProtocol, type OperationBase} from '../../src/operations/index.js'
import type {Orchestrator} from '../../src/orchestrator/index.js'
import {onAbort} from '../../src/process/index.js'
import type {DaemonOptions} from '../../src/scheduler/index.js'

/** Time to answer pending requests on shutdown, ms. */
const answerMs = 3000

/** Interval between attempts to run the tasks while another daemon runs them, ms. */
const retryMs = 1000

type Publish = typeof publishDaemon

/** What the methods that run the daemon share. */
interface Daemon {
  base: OperationBase
  listen: ListenAddress | undefined
  server: RpcServer | undefined
  log: EventLog
  options: Pick<DaemonOptions, 'processors' | 'signal' | 'runsTasks' | 'drainMs'>
}

export default class DaemonRun extends OrchCommand<typeof DaemonRun> {
  static override summary = 'Run the daemon in the foreground.'
  static override description =
    `The daemon runs queued tasks and answers requests. Each agent runs one task at a time, using the inference server or a
command template of the workspace. A second daemon in the same workspace exits with status 4. If a daemon is killed, the
next one requeues its tasks.

--listen HOST:PORT accepts TCP connections; port 0 selects a free port. The address is written to .svc/daemon.json. By
default, the daemon listens on a free port of the loopback interface; --listen off accepts no connections.

--listen stdio answers requests on standard input and output until standard input closes. It also works while another
daemon runs the tasks of the workspace. A request is a line of JSON, either JSON-RPC 2.0 or {"id","method","params"}.

If SVC_MESH_ENABLED=1 and mesh_remote_worker_poll_interval_secs is set, the daemon also runs the tasks that other machines
of the mesh send to this one.

With --json the first line is a ready event, followed by one line per event. On SIGTERM or SIGINT, running tasks have
--drain seconds to finish; unfinished tasks are requeued. The daemon then exits with status 0.

SIGHUP does the same if the daemon runs in a terminal, which sends it when it closes. Otherwise, SIGHUP reopens the event
log and reads the settings again.`
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
        'Accept connections from other machines; requires a token of at least 16 characters in SVC_DAEMON_TOKEN.',
    }),
    drain: Flags.integer({
      description: 'Grace period for running tasks on shutdown.',
      default: 10,
      min: 0,
      max: 86_400,
      helpValue: 'SECONDS',
    }),
  }

  /** Aborts when a client requests a shutdown, or when the only client of --listen stdio disconnects. */
  readonly #shutdown = new AbortController()
  /** What the requests use, if the tasks do not use it too. */
  #answering: Orchestrator | undefined
  /** Resolves when all lines so far are printed, in order. If the reader closes, the signal ends the command. */
  #printed: Promise<void> = Promise.resolve()

  async run(): Promise<void> {
    const {socket, agentFleet} = this.settings(daemonSettings)
    const {anyFreePort, parseListen} = await import('../../src/daemon/index.js')
    const listen = socket === undefined ? anyFreePort : parseListen(socket)
    const base = await this.openOperations('daemon', this.speechPort)
    const {probeGpus} = await import('../../src/mesh/index.js')
    const [processors] = await Promise.all([this.#processors(base), probeGpus(base.sources)])
    const log = this.#openEventLog(base.orchestrator)
    // Standard streams that belong to a terminal cannot be recognised any more when it has closed.
    if (![0, 1, 2].some((stream) => isatty(stream))) this.onHangup = () => void this.#reload(base, log)
    try {
      const server = listen === undefined ? undefined : await this.#openServer(listen, base)
      const signal = AbortSignal.any([this.signal, this.#shutdown.signal])
      let closed: Promise<void> | undefined
      const close = () => {
        closed ??= server?.close(answerMs)
      }
      onAbort(signal, close)
      try {
        const daemon: Daemon = {
          base,
          listen,
          server,
          log,
          options: {processors, signal, runsTasks: agentFleet, drainMs: this.flags.drain * 1000},
        }
        const run = () => (listen?.kind === 'stdio' ? this.#runWhenFree(daemon) : this.#runTasks(daemon))
        await (this.settings(meshNodeSettings).enabled ? this.#asNode(daemon, run) : run())
      } finally {
        close()
        await closed
      }
    } finally {
      log.close()
      await this.#printed
    }
  }

  /** Announces this machine as a node of the mesh while it runs tasks, and also runs those of other machines. */
  async #asNode(daemon: Daemon, run: () => Promise<void>): Promise<void> {
    const {orchestrator, sources, version, modules} = daemon.base
    const {whileAnnounced} = await import('../../src/mesh/index.js')
    const notice = (text: string) => this.output.notice(text)
    await whileAnnounced({sources, version, place: async () => orchestrator, notice}, async () => {
      if (!modules.delegation.isWorkerConfigured(sources)) return run()
      const over = new AbortController()
      const working = this.#work(daemon, over.signal).catch((error: Error) => notice(`warning: ${error.message}`))
      try {
        await run()
      } finally {
        over.abort()
        await working
      }
    })
  }

  /** Runs the tasks of other machines until the daemon is stopped. @throws file_unwritable */
  async #work({base, options}: Daemon, over: AbortSignal): Promise<void> {
    const {orchestrator, sources, version, modules} = base
    const {claimerOf, configuredWorker, replyAgentOf, runWorker} = modules.delegation
    const [{configuredClient, selfRecord}, {resolveEndpoint}] = await Promise.all([
      import('../../src/mesh/index.js'),
      import('../../src/inference-client/index.js'),
    ])
    const record = await selfRecord(sources, version)
    const client = configuredClient(sources, this.settings(meshSettings).controlUrl ?? '', record.id)
    try {
      const {endpoint} = resolveEndpoint(sources)
      const config = () => orchestrator.config
      const worker = configuredWorker({sources, mesh: client, record, config, endpoint})
      // Several machines may have the same configured agent; then the tasks of this one are not distinguishable.
      const isOwnAgent = config().meshRemoteExecuteSenderAgent === undefined
      const excludeSenders = isOwnAgent ? [replyAgentOf(config(), claimerOf(orchestrator))] : undefined
      const signal = AbortSignal.any([options.signal, over])
      const onEvent = (event: WorkerEvent) => {
        const text = workNotice(event, worker.receiver)
        if (text !== undefined) this.output.notice(text)
      }
      await runWorker({...worker, excludeSenders, drainMs: this.flags.drain * 1000, signal, onEvent})
    } finally {
      await client.close()
    }
  }

  async #openServer(listen: ListenAddress, base: OperationBase): Promise<RpcServer> {
    const {modules, orchestrator} = base
    const {token, lineTimeoutMs} = this.settings(daemonSettings)
    const {openRpcServer} = await import('../../src/daemon/index.js')
    const second = await this.openSecond(orchestrator)
    if (second !== orchestrator) this.#answering = second
    const server = await openRpcServer({
      listen,
      base: {
        ...base,
        orchestrator: second,
        ...(second === orchestrator
          ? {}
          : {
              onReload: async () => {
                await modules.reloadConfig(orchestrator, base.sources)
              },
            }),
      },
      token,
      allowRemote: this.flags['allow-remote'],
      lineTimeoutMs,
      onShutDown: () => this.#shutdown.abort(),
    })
    server.ended.then(() => this.#shutdown.abort())
    if (listen.kind === 'tcp') await this.warnWithoutTls(listen.host)
    return server
  }

  /** Runs the tasks as soon as no other daemon does. Requests are answered in the meantime. */
  async #runWhenFree(daemon: Daemon): Promise<void> {
    const {signal} = daemon.options
    for (let isLogged = false; ; isLogged = true)
      try {
        return await this.#runTasks(daemon)
      } catch (error) {
        if (!isErrorOf(error, 'daemon_running')) throw error
        const {pid, host} = error.params
        if (!isLogged)
          this.output.notice(`notice: Another daemon (pid ${pid} on ${host}) already runs the tasks of this workspace.`)
        await sleep(retryMs, undefined, {signal}).catch(() => undefined)
        if (signal.aborted) return
      }
  }

  async #runTasks({base, listen, server, log, options}: Daemon): Promise<void> {
    const {modules, orchestrator} = base
    const isPrinting = this.output.json && listen?.kind !== 'stdio'
    let publication: Publication | undefined
    let poller: NodePoller | undefined
    onAbort(options.signal, () => publication?.ending())
    try {
      const {publish} = await import('../../src/daemon/index.js')
      const {configuredClient} = await import('../../src/mesh/index.js')
      const {startWorkflowRunner} = await modules.workflows.loadWorkflows()
      const ports = workflowPorts(orchestrator, {
        sources: base.sources,
        version: base.version,
        speech: this.speechPort,
      })
      await modules.scheduler.runDaemon(orchestrator, {
        ...options,
        delegator: (lease) => {
          const {controlUrl} = orchestrator.config
          if (controlUrl === undefined) return undefined
          const client = configuredClient(base.sources, controlUrl, modules.delegation.claimerOf(orchestrator))
          return modules.delegation.startDelegator(orchestrator, {
            client,
            env: process.env,
            lease,
            version: base.version,
          })
        },
        workflows: options.runsTasks === false ? undefined : () => startWorkflowRunner(orchestrator, {ports}),
        onReady: (lease, recovered) => {
          const {fence} = lease
          publication = this.#publish(publish, base, server)
          poller = modules.delegation.startNodePoller(orchestrator, {
            lease,
            sources: base.sources,
            signal: options.signal,
          })
          const {path: store} = orchestrator.store
          const addr = server?.address === undefined ? {} : {addr: server.address}
          const ready: DaemonReadyV1 = {event: 'ready', pid: process.pid, fence, recovered, store, ...addr}
          if (isPrinting) this.#print(ready)
          if (server?.address !== undefined) this.output.notice(`Listening on ${server.address}.`)
          const requeued = recovered === 0 ? '' : `; requeued ${counted(recovered, 'task')} of the previous daemon`
          const {root} = this.workspace
          this.output.notice(
            options.runsTasks === false
              ? `Answering requests for ${root}${requeued}. SVC_MCP_AGENT_FLEET is off: queued tasks are not run.`
              : `Running the tasks of ${root}${requeued}.`,
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
      await poller?.close()
      publication?.remove()
    }
  }

  /** Writes .svc/daemon.json. Only warns if the workspace is read-only, since the daemon also works without the file. */
  #publish(publish: Publish, {orchestrator}: OperationBase, server: RpcServer | undefined): Publication | undefined {
    try {
      return publish(this.workspace.root, {
        addr: server?.address ?? null,
        protocol: daemonProtocol,
        repository_id: orchestrator.repositoryId,
        started_at_ms: Date.now(),
      })
    } catch (error) {
      this.output.notice(`warning: Other commands cannot find this daemon: ${(error as Error).message}`)
      return undefined
    }
  }

  /** Reopens the event log, and reads the settings again, which are unchanged if there is an error in them. */
  async #reload({modules, orchestrator, sources}: OperationBase, log: EventLog): Promise<void> {
    const notice = (text: string) => this.output.notice(text)
    log.reopen()
    try {
      const reload = await modules.reloadConfig(orchestrator, sources, async () => {
        if (this.#answering !== undefined) await modules.reloadConfig(this.#answering, sources)
      })
      for (const text of reload.warnings) notice(`warning: ${text}`)
      modules.announceReload(orchestrator, reload, notice)
    } catch (error) {
      notice(`warning: The settings are unchanged: ${SvcError.from(error).message}`)
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

function workNotice(event: WorkerEvent, receiver: string): string | undefined {
  if (event.type === 'ready') return `Running the tasks that other machines send to agent ${receiver}.`
  if (event.type === 'waiting') return 'notice: Another process of this machine runs the tasks of other machines.'
  // The first requests may precede the join.
  if (event.type === 'failed' && event.failures === 3) return `warning: ${event.error.message}`
  return undefined
}
