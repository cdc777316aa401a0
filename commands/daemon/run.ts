import {resolve} from 'node:path'
import {Flags} from '@oclif/core'
import {type EventLog, OrchCommand, openEventLog, tellEvent} from '../../src/cli/index.js'
import type {DaemonReadyV1} from '../../src/contracts/index.js'
import type {OrchestratorRoom} from '../../src/operations/index.js'
import type {DaemonOptions, Orchestrator} from '../../src/orchestrator/index.js'

export default class DaemonRun extends OrchCommand<typeof DaemonRun> {
  static override summary = 'Run the tasks of the workspace, until it is stopped.'
  static override description =
    `Each agent runs one task at a time: with the inference server, or with a command template of the workspace. One daemon runs
per workspace; a second one ends with 4. Killed at any moment, the next one goes on with its tasks.

With --json the first line says that it is ready, and every event follows as a line. SIGTERM and SIGINT let running tasks
end for as long as --drain says; those that do not are queued again. Then it exits with 0.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json --drain 60 > events.jsonl &',
  ]
  static override flags = {
    drain: Flags.integer({
      description: 'How long running tasks may go on once it is asked to stop.',
      default: 10,
      min: 0,
      max: 86_400,
      helpValue: 'SECONDS',
    }),
  }

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    const processors = await this.#processors(room, orchestrator)
    const log = this.#openEventLog(orchestrator)
    /** Lines go out in their order; a reader that goes away ends the command by its signal. */
    let printed: Promise<void> = Promise.resolve()
    const print = (line: object) => {
      printed = printed.then(() => this.output.event(line)).catch(() => undefined)
    }
    try {
      await room.runDaemon(orchestrator, {
        processors,
        signal: this.signal,
        drainMs: this.flags.drain * 1000,
        onReady: ({fence}, recovered) => {
          const {path: store} = orchestrator.store
          const ready: DaemonReadyV1 = {event: 'ready', pid: process.pid, fence, recovered, store}
          print(ready)
          const found = recovered === 0 ? '' : `; ${recovered} tasks of the last daemon are queued again`
          this.output.notice(`Running the tasks of ${this.workspace.root}${found}.`)
        },
        onEvents: (events) => {
          log.append(events)
          for (const event of events) {
            print(event)
            if (!this.output.json && room.isTold(event.kind.type, orchestrator.config.logLevel))
              this.output.notice(tellEvent(event.kind, room))
          }
        },
      })
    } finally {
      log.close()
      await printed
    }
  }

  #openEventLog({config, root}: Orchestrator): EventLog {
    const path = config.eventLog === undefined ? undefined : resolve(root, config.eventLog)
    return openEventLog(path, (fault) => this.output.notice(`warning: ${fault}`))
  }

  async #processors(
    {localProcessors}: OrchestratorRoom,
    orchestrator: Orchestrator,
  ): Promise<DaemonOptions['processors']> {
    const {resolveEndpoint} = await import('../../src/inference/index.js')
    const {endpoint, warnings} = resolveEndpoint(this.settingSources())
    this.report(warnings)
    return localProcessors(orchestrator, {endpoint, env: process.env})
  }
}
