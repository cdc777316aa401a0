import {Args, type Command, Flags} from '@oclif/core'
import type {SettingWarning} from '../config/index.js'
import type {OrchEmptiedV1} from '../contracts/index.js'
import type {OperationBase, OrchestratorRoom, Surface} from '../operations/index.js'
import type {Emptied, Orchestrator, Task} from '../orchestrator/index.js'
import {SvcCommand} from './command.js'
import {readTextInput} from './input.js'
import {agentLine, taskLine} from './orch-text.js'
import {readings} from './store-changes.js'

const parseTaskId = async (text: string): Promise<number> =>
  (await import('../orchestrator/index.js')).parseTaskId(text)

/** A task, as an argument. */
export const taskArg = Args.custom<number>({parse: parseTaskId})({
  description: 'The task: 42 or T-0042.',
  required: true,
})

/** A task, as the value of a flag. */
export const taskFlag = Flags.custom<number>({parse: parseTaskId, helpValue: 'ID'})

/** An agent, as an argument. */
export const agentArg = Args.string({description: 'The agent: its name, or its id such as A-03.', required: true})

/** The claim under which a client worked. */
export const claimFlag = Flags.integer({
  description: 'Generation of the claim under which the work was done; refused where a later one exists.',
  min: 1,
  helpValue: 'N',
})

/** A command on the orchestrator of the workspace. The store is enough: no daemon has to run. */
export abstract class OrchCommand<T extends typeof Command = typeof Command> extends SvcCommand<T> {
  #orchestrator: Orchestrator | undefined

  /** Opens the orchestrator until the command ends. */
  protected async open(): Promise<{room: OrchestratorRoom; orchestrator: Orchestrator}> {
    const {configureLog} = await import('../log/index.js')
    configureLog(this.logOptions())
    const [room, {assistantFragment: fragment}] = await Promise.all([
      import('../orchestrator/index.js'),
      import('../assistant/index.js'),
    ])
    const sources = this.settingSources()
    const orchestrator = await room.openOrchestrator({root: this.workspace.root, sources, fragments: [fragment]})
    this.#orchestrator = orchestrator
    this.report(distinct(orchestrator.warnings))
    for (const notice of orchestrator.notices) this.output.notice(notice)
    return {room, orchestrator}
  }

  /** Opens the workspace for operations of any kind. @param speech where this process recognises speech */
  protected async openOperations(surface: Surface, speech?: OperationBase['speech']): Promise<OperationBase> {
    const {room, orchestrator} = await this.open()
    return {room, orchestrator, surface, version: this.config.version, sources: this.settingSources(), speech}
  }

  protected printTask(task: Task): Promise<void> {
    return this.output.result(task, taskLine)
  }

  protected printEmptied({displayAgent}: OrchestratorRoom, {agent, moved}: Emptied): Promise<void> {
    const {id, name, state} = agent
    const result: OrchEmptiedV1 = {agent_id: id, display_id: displayAgent(id), name, state, moved}
    const moves = moved.length === 0 ? '' : `, ${moved.length} tasks went to other agents`
    return this.output.result(result, () => `${agentLine({...agent, display_id: result.display_id})}${moves}`)
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
    this.#orchestrator?.close()
    await super.finally(error)
  }
}

const clearScreen = '\u001b[H\u001b[2J'

/** A variable that two settings read is reported once. */
export const distinct = (warnings: readonly SettingWarning[]): SettingWarning[] => [
  ...new Map(warnings.map((warning) => [warning.message, warning])).values(),
]
