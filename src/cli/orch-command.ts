import {Args, type Command, Flags} from '@oclif/core'
import {assistantSettings} from '../config/index.js'
import type {OrchEmptiedV1} from '../contracts/index.js'
import type {OperationBase, Surface, WorkspaceModules} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {Task} from '../tasks/index.js'
import {readTextInput} from './input.js'
import {openWorkspace} from './open-workspace.js'
import {agentLine, formatTask, taskLine} from './orch-text.js'
import {withProgress} from './progress.js'
import {SpeechCommand} from './speech-command.js'
import {readings} from './store-changes.js'
import {notCompleted, type Waiting, waitForTask} from './wait-for-task.js'

/** Reads `42` or `T-0042`. @throws usage */
export const parseTaskId = async (text: string): Promise<number> =>
  (await import('../tasks/index.js')).parseTaskId(text)

export const taskArg = Args.custom<number>({parse: parseTaskId})({
  description: 'The task: 42 or T-0042.',
  required: true,
})

export const taskFlag = Flags.custom<number>({parse: parseTaskId, helpValue: 'ID'})

/**
 * A command on the orchestrator of the workspace. The store is enough: no daemon has to run. It can recognise speech,
 * for operations that do.
 */
export abstract class OrchCommand<T extends typeof Command = typeof Command> extends SpeechCommand<T> {
  #orchestrator: Orchestrator | undefined
  #other: Orchestrator | undefined

  /** Opens the orchestrator until the command ends. */
  protected async open(): Promise<{modules: WorkspaceModules; orchestrator: Orchestrator}> {
    const {configureLog} = await import('../log/index.js')
    configureLog(this.logOptions())
    const {modules, orchestrator} = await openWorkspace(this.workspace.root, this.settingSources())
    this.#orchestrator = orchestrator
    this.report(orchestrator.warnings)
    for (const notice of orchestrator.notices) this.output.notice(notice)
    return {modules, orchestrator}
  }

  /**
   * Opens the orchestrator once more, until the command ends: on a connection of its own, so that what one writes is for
   * the other as if another process had written it. A store in memory is there only once.
   */
  protected async openBeside(first: Orchestrator): Promise<Orchestrator> {
    if (!first.isKept) return first
    const {orchestrator} = await openWorkspace(this.workspace.root, this.settingSources())
    this.#other = orchestrator
    return orchestrator
  }

  /** Opens the workspace for operations of any kind. @param speech where this process recognises speech */
  protected async openOperations(surface: Surface, speech?: OperationBase['speech']): Promise<OperationBase> {
    const {modules, orchestrator} = await this.open()
    // Operations read these when they ask a model, and do not report a variable that cannot be read.
    this.settings(assistantSettings)
    return {modules, orchestrator, surface, version: this.config.version, sources: this.settingSources(), speech}
  }

  protected printTask(task: Task): Promise<void> {
    return this.output.result(task, taskLine)
  }

  protected printEmptied(emptied: OrchEmptiedV1): Promise<void> {
    const {moved} = emptied
    const moves = moved.length === 0 ? '' : `, ${moved.length} tasks went to other agents`
    return this.output.result(emptied, (agent) => `${agentLine(agent)}${moves}`)
  }

  /**
   * Waits until a task is over, and shows meanwhile how it stands.
   * @throws as `waitForTask`
   */
  protected async waitFor(
    modules: WorkspaceModules,
    orchestrator: Orchestrator,
    {id, display_id}: Pick<Task, 'id' | 'display_id'>,
    limit?: Waiting['limit'],
  ): Promise<Task> {
    const {signal} = this
    const look = () => modules.tasks.requireTask(orchestrator, id)
    const isShown = !(this.flags as {quiet: boolean}).quiet && !this.output.json
    await withProgress(`Waiting for ${display_id}`, isShown, (print) => {
      const show = ({status, current_phase: phase}: Task) => print(phase === undefined ? status : `${status}, ${phase}`)
      return waitForTask(orchestrator, look, {signal, limit, show})
    })
    return modules.tasks.taskWithOutput(orchestrator, id)
  }

  /** Says that nothing will run these tasks, where that is so. */
  protected warnWithoutDaemon(modules: WorkspaceModules, orchestrator: Orchestrator, tasks: readonly Task[]): void {
    if (tasks.some(({processor}) => processor !== 'external') && modules.reportStatus(orchestrator).daemon === null)
      this.output.notice('notice: no daemon runs in this workspace; start one with svc daemon run.')
  }

  /** Prints a task that is over. @throws task_not_successful unless it was completed */
  protected async printEnd(task: Task, modules: WorkspaceModules): Promise<void> {
    if (task.status === 'Completed') return this.output.result(task, () => formatTask(task, modules.tasks))
    // Under --json a failure is one value: the error.
    await this.output.piece(formatTask(task, modules.tasks))
    throw notCompleted(task)
  }

  /** The text of a flag or an argument; that of standard input where it is `-`. */
  protected async textOf(given: string): Promise<string> {
    return given === '-' ? readTextInput(this.signal) : given
  }

  /**
   * Shows what is read, and shows it anew whenever it has changed, until the command is stopped: on a terminal in the
   * place of what was there before, under `--json` as one value per line.
   */
  protected async watch<R extends object>(read: () => R, asText: (value: R) => string): Promise<void> {
    const orchestrator = this.#orchestrator
    if (orchestrator === undefined) return
    let shown: string | undefined
    for await (const value of readings(orchestrator, read, this.signal)) {
      const state = JSON.stringify(value)
      if (state === shown) continue
      const text = asText(value)
      if (this.output.json) await this.output.line(value)
      else if (process.stdout.isTTY) await this.output.piece(`${clearScreen}${text}`)
      else await this.output.piece(shown === undefined ? text : `\n${text}`)
      shown = state
    }
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    this.#other?.close()
    this.#orchestrator?.close()
    await super.finally(error)
  }
}

const clearScreen = '\u001b[H\u001b[2J'
