import {type Command, Flags} from '@oclif/core'
import type {WorkflowJournalEntry} from '../contracts/index.js'
import {command, commandLine, SvcError} from '../errors/index.js'
import type {WorkspaceModules} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {ActivityPorts, Driven, DriveOptions, ProgramLine, RunRow, WaitingFor, Workflow} from '../workflow/index.js'
import {plain} from './cell-text.js'
import {stopped} from './interruption.js'
import {OrchCommand} from './orch-command.js'
import {workflowPorts} from './workflow-ports.js'
import {withWorkflowTree} from './workflow-tree.js'

/** Flags of commands that drive a run. */
export const driveFlags = {
  wait: Flags.boolean({description: 'Wait while the run waits.', default: true, allowNo: true}),
  output: Flags.boolean({description: 'Print the output of programs to standard error, line by line as it appears.'}),
}

/** Base of commands that continue workflow runs. */
export abstract class WorkflowCommand<T extends typeof Command = typeof Command> extends OrchCommand<T> {
  protected override get whenUnread() {
    return 'finishes' as const
  }

  /** Services for the activities of runs. */
  protected activityPorts(orchestrator: Orchestrator): ActivityPorts {
    return workflowPorts(orchestrator, {
      sources: this.settingSources(),
      version: this.config.version,
      speech: this.speechPort,
    })
  }

  /**
   * Drives a run to its end, shows its progress, and prints its output.
   * With `--output`, what programs print takes the place of the progress.
   * @throws workflow_failed, workflow_cancelled
   */
  protected async drive(
    modules: WorkspaceModules,
    orchestrator: Orchestrator,
    workflow: Workflow,
    start: (options: DriveOptions) => Promise<Driven>,
  ): Promise<void> {
    let runId = ''
    let isTaskNoticed = false
    const {wait, output, quiet} = this.flags as {wait: boolean; output?: boolean; quiet: boolean}
    const onLine = output
      ? ({activity, text}: ProgramLine) => this.output.notice(`${activity} | ${plain(text)}`)
      : undefined
    const isShown = !this.output.json && !quiet && !output
    const run = await withWorkflowTree(workflow, isShown, async (show) => {
      const onEntry = (entry: WorkflowJournalEntry) => {
        show(entry)
        if (this.output.json) this.#print(entry)
      }
      const onWaiting = (waiting: readonly WaitingFor[]) => {
        this.#noticeWaiting(runId, waiting)
        if (isTaskNoticed || waiting.every(({kind}) => kind !== 'task')) return
        isTaskNoticed = true
        this.noticeWithoutDaemon(modules, orchestrator)
      }
      const ports = this.activityPorts(orchestrator)
      const driven = await start({
        ports: {...ports, onLine},
        signal: this.signal,
        stays: wait,
        onWaiting,
        onEntry: (entry) => {
          runId = entry.run_id
          onEntry(entry)
        },
      })
      return driven.done
    }).catch((error: unknown) => {
      throw runId === '' ? error : stopped(error, 'workflow', {run: runId})
    })
    await this.#printed
    await this.#end(run)
  }

  #printed: Promise<void> = Promise.resolve()
  #noticed = ''

  #print(entry: WorkflowJournalEntry): void {
    this.#printed = this.#printed.then(() => this.output.event(entry)).catch(() => undefined)
  }

  /** Names the commands that let a waiting run continue, once. */
  #noticeWaiting(runId: string, waiting: readonly WaitingFor[]): void {
    const lines = waiting.flatMap(({kind, key = '', prompt}) => {
      if (kind === 'approval')
        return [
          `Waiting for approval: ${prompt}`,
          `  ${commandLine`svc workflow signal ${runId} ${key}`}`,
          `  ${commandLine`svc workflow signal ${runId} ${key} --reject REASON`}`,
        ]
      return kind === 'signal' ? [`Waiting for a signal: ${commandLine`svc workflow signal ${runId} ${key}`}`] : []
    })
    const text = lines.join('\n')
    if (text === '' || text === this.#noticed) return
    this.#noticed = text
    this.output.notice(text)
  }

  async #end(run: RunRow): Promise<void> {
    const {run_id: id, status, output_json: json, last_error: reason} = run
    switch (status) {
      case 'completed': {
        const output: unknown = JSON.parse(json ?? 'null')
        if (output !== null)
          await this.output.piece(`${typeof output === 'string' ? output : JSON.stringify(output, null, 2)}\n`)
        return
      }
      case 'failed':
        throw new SvcError('workflow_failed', {run: id, reason: reason ?? '', canResume: run.is_unwinding === 0})
      case 'cancelled':
        throw new SvcError('workflow_cancelled', {run: id})
      default:
        this.output.notice(
          `Run ${id} is waiting. To continue it, run ${command`svc workflow resume ${id}`} or start a daemon.`,
        )
    }
  }
}
