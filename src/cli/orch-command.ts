import {Args, type Command, Flags} from '@oclif/core'
import {assistantSettings} from '../config/index.js'
import type {OrchEmptiedV1} from '../contracts/index.js'
import {counted} from '../errors/index.js'
import type {OperationBase, Surface, WorkspaceModules} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {Task} from '../tasks/index.js'
import {readTextInput} from './input.js'
import {openStore} from './open-workspace.js'
import {agentLine, formatTask, taskLine} from './orch-text.js'
import {withProgress} from './progress.js'
import {SpeechCommand} from './speech-command.js'
import {readings} from './store-changes.js'
import {notCompleted, type Waiting, waitForTask} from './wait-for-task.js'

/** Reads `42` or `T-0042`. @throws usage */
export const parseTaskId = async (text: string): Promise<number> =>
  (await import('../tasks/index.js')).parseTaskId(text)

export const taskArg = Args.custom<number>({parse: parseTaskId})({
  description: 'Task id: 42 or T-0042.',
  required: true,
})

export const taskFlag = Flags.custom<number>({parse: parseTaskId, helpValue: 'ID'})

/**
 * Base of commands on the orchestrator of the workspace. They work directly on the store and need no daemon. Operations
 * may recognise speech.
 */
export abstract class OrchCommand<T extends typeof Command = typeof Command> extends SpeechCommand<T> {
  #orchestrator: Orchestrator | undefined
  #second: Orchestrator | undefined

  /** Opens the orchestrator, which is closed when the command ends, and loads the modules that work on it. */
  protected async open(): Promise<{modules: WorkspaceModules; orchestrator: Orchestrator}> {
    const modules = await import('../orchestrator/index.js')
    return {modules, orchestrator: await this.openStore()}
  }

  /** Opens the orchestrator only, for commands that import the few functions that they need: they start faster. */
  protected async openStore(): Promise<Orchestrator> {
    const {configureLog} = await import('../log/index.js')
    configureLog(this.logOptions())
    const orchestrator = await openStore(this.workspace.root, this.settingSources())
    this.#orchestrator = orchestrator
    this.report(orchestrator.warnings)
    for (const notice of orchestrator.notices) this.output.notice(notice)
    return orchestrator
  }

  /**
   * Opens a second orchestrator on its own connection, so that each sees the writes of the other like those of another
   * process. An in-memory store has only one connection, so the first orchestrator is returned.
   */
  protected async openSecond(first: Orchestrator): Promise<Orchestrator> {
    if (!first.isKept) return first
    const orchestrator = await openStore(this.workspace.root, this.settingSources())
    this.#second = orchestrator
    return orchestrator
  }

  /** Opens the workspace for operations. @param speech undefined: operations cannot recognise speech */
  protected async openOperations(surface: Surface, speech?: OperationBase['speech']): Promise<OperationBase> {
    const {modules, orchestrator} = await this.open()
    // Operations resolve these settings later without reporting warnings, so that is done here.
    this.settings(assistantSettings)
    return {modules, orchestrator, surface, version: this.config.version, sources: this.settingSources(), speech}
  }

  protected printTask(task: Task): Promise<void> {
    return this.output.result(task, taskLine)
  }

  protected printEmptied(emptied: OrchEmptiedV1): Promise<void> {
    const {moved} = emptied
    const moves = moved.length === 0 ? '' : `, ${counted(moved.length, 'task')} moved to other agents`
    return this.output.result(emptied, (agent) => `${agentLine(agent)}${moves}`)
  }

  /**
   * Waits until a task is finished and shows its status as progress.
   * @throws what `waitForTask` throws
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
    return modules.tasks.taskInDetail(orchestrator, id)
  }

  /** Prints a notice if no daemon is running that could run the tasks. */
  protected warnWithoutDaemon(modules: WorkspaceModules, orchestrator: Orchestrator, tasks: readonly Task[]): void {
    if (tasks.some(({processor}) => processor !== 'external')) this.noticeWithoutDaemon(modules, orchestrator)
  }

  protected noticeWithoutDaemon(modules: WorkspaceModules, orchestrator: Orchestrator): void {
    if (modules.reportStatus(orchestrator).daemon === null)
      this.output.notice('notice: No daemon is running in this workspace. Start one with `svc daemon start`.')
  }

  /** Prints a finished task. @throws task_not_successful unless it was completed */
  protected async printEnd(task: Task, modules: WorkspaceModules): Promise<void> {
    if (task.status === 'Completed')
      return this.output.result(task, () => formatTask(task, modules.tasks, this.view.width))
    // With --json, a failure is printed as one value, the error.
    await this.output.piece(formatTask(task, modules.tasks, this.view.width))
    throw notCompleted(task)
  }

  /** The text of a flag or an argument, or standard input if it is `-`. */
  protected async textOf(value: string): Promise<string> {
    return value === '-' ? readTextInput(this.signal) : value
  }

  /**
   * Prints a value and prints it again on every change, until the command is stopped. On a terminal, it replaces the
   * previous text if it fits on the screen; otherwise it is appended, so that the user can scroll. With `--json`, it is
   * one line.
   */
  protected async watch<R extends object>(read: () => R, asText: (value: R) => string): Promise<void> {
    const orchestrator = this.#orchestrator
    if (orchestrator === undefined) return
    let printed: string | undefined
    for await (const value of readings(orchestrator, read, this.signal)) {
      const state = JSON.stringify(value)
      if (state === printed) continue
      const text = asText(value)
      if (this.output.json) await this.output.line(value)
      else if (fitsScreen(text, process.stdout)) await this.output.piece(`${clearScreen}${text}`)
      else await this.output.piece(printed === undefined ? text : `\n${text}`)
      printed = state
    }
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    this.#second?.close()
    this.#orchestrator?.close()
    await super.finally(error)
  }
}

const clearScreen = '\u001b[H\u001b[2J'

/** True if standard output is a terminal that can show all lines, including wrapped ones, and the cursor below them. */
export function fitsScreen(
  text: string,
  {isTTY, columns, rows}: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows'>,
) {
  if (!isTTY) return false
  const heights = text.split('\n').map((line) => Math.max(1, Math.ceil(line.length / columns)))
  return heights.reduce((sum, height) => sum + height, 0) <= rows
}
