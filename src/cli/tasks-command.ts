import {Args, type Command, Flags} from '@oclif/core'
import type {OrchOutcomesV1} from '../contracts/index.js'
import {Exit, SvcError} from '../errors/index.js'
import type {WorkspaceModules} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import type {TaskFilter, TaskLabel, TaskOutcome} from '../tasks/index.js'
import {OrchCommand, parseTaskId} from './orch-command.js'
import {durationFlag} from './time-flags.js'

/** The states in which a task is not over. */
export const openStatuses: readonly TaskLabel[] = [
  'Queued',
  'InProgress',
  'RemoteHold',
  'Blocked',
  'BlockedOnApproval',
  'Doubted',
]

export const statusFlag = Flags.custom<TaskLabel>({
  char: 's',
  helpValue: 'STATUS',
  parse: async (value) => {
    const {taskStatuses} = await import('../tasks/index.js')
    const labels = [...taskStatuses, 'RemoteHold'] as const
    const found = labels.find((label) => label.toLowerCase() === value.trim().toLowerCase())
    if (found !== undefined) return found
    throw new SvcError('flag_value', {flag: '--status', value, expected: `one of ${labels.join(', ')}`})
  },
})

/** Which tasks a command is about. */
export const taskFilterFlags = {
  status: statusFlag({
    description: 'Only tasks in this state, written in any case; may be repeated.',
    multiple: true,
    multipleNonGreedy: true,
  }),
  agent: Flags.string({char: 'a', description: 'Only tasks of this agent: its name or its id.', helpValue: 'NAME'}),
  'session-id': Flags.string({description: 'Only tasks of this session.', helpValue: 'ID'}),
  'older-than': durationFlag({
    description: 'Only tasks that finished longer ago than this, or, if not finished, were submitted longer ago.',
  }),
}

interface FilterFlags {
  readonly status?: readonly TaskLabel[] | undefined
  readonly agent?: string | undefined
  readonly 'session-id'?: string | undefined
  readonly 'older-than'?: number | undefined
}

/** @throws agent_not_found */
export const taskFilter = (
  modules: WorkspaceModules,
  orchestrator: Orchestrator,
  {status, agent, 'session-id': sessionId, 'older-than': age}: FilterFlags,
): TaskFilter => ({
  ...(status === undefined ? {} : {status}),
  ...(agent === undefined ? {} : {agentId: modules.tasks.requireAgent(orchestrator, agent).id}),
  ...(sessionId === undefined ? {} : {sessionId}),
  ...(age === undefined ? {} : {olderThanMs: orchestrator.now() - age}),
})

export const taskArgs = {
  id: Args.string({description: 'The task: 42 or T-0042; may be repeated.', required: false}),
}

export const manyTasksFlags = {
  ...taskFilterFlags,
  all: Flags.boolean({description: 'All tasks that this can be done to.', exclusive: Object.keys(taskFilterFlags)}),
  'dry-run': Flags.boolean({description: 'Show what would be done, and change nothing.'}),
}

/** A command that does the same to each of the tasks that its arguments or its filters name. */
export abstract class TasksCommand<T extends typeof Command = typeof Command> extends OrchCommand<T> {
  /** The one task that was named, where the command is about no others and no dry run. */
  protected async single(): Promise<number | undefined> {
    const [id, ...others] = await this.#named()
    return others.length === 0 && !this.#isDryRun ? id : undefined
  }

  /**
   * Does it to all of them, and prints what became of each.
   * @param statuses those of a filter that names none
   */
  protected async actOnAll(
    statuses: readonly TaskLabel[],
    act: (
      modules: WorkspaceModules,
      orchestrator: Orchestrator,
      ids: readonly number[],
      dryRun: boolean,
    ) => TaskOutcome[],
  ): Promise<void> {
    const named = await this.#named()
    const {modules, orchestrator} = await this.open()
    const filter = {status: statuses, ...taskFilter(modules, orchestrator, this.flags as FilterFlags)}
    const ids = named.length > 0 ? named : modules.tasks.listTaskIds(orchestrator, filter)
    const tasks = act(modules, orchestrator, ids, this.#isDryRun)
    const failed = tasks.filter(({error}) => error !== undefined).length
    const result: OrchOutcomesV1 = {dry_run: this.#isDryRun, failed, tasks}
    await this.output.result(result, formatOutcomes)
    if (failed > 0) process.exitCode = Exit.failed
  }

  get #isDryRun(): boolean {
    return (this.flags as {'dry-run'?: boolean})['dry-run'] === true
  }

  /** The tasks that the arguments name; none where filters do. @throws usage */
  async #named(): Promise<number[]> {
    const ids = await Promise.all(this.argumentList.map(parseTaskId))
    const flags = this.flags as Readonly<Record<string, unknown>>
    const filters = ['all', ...Object.keys(taskFilterFlags)].filter((name) => flags[name] !== undefined)
    if (ids.length > 0 && filters.length > 0)
      throw new SvcError('usage', {reason: `Give either task ids or --${filters[0]}, not both.`})
    if (ids.length === 0 && filters.length === 0)
      throw new SvcError('usage', {reason: 'No task is named: give task ids, a filter such as --agent, or --all.'})
    return ids
  }
}

const formatOutcomes = ({dry_run: isDryRun, tasks}: OrchOutcomesV1): string =>
  tasks.length === 0
    ? 'No tasks.\n'
    : tasks
        .map(({display_id, status, error}) =>
          error === undefined
            ? `${display_id} ${isDryRun ? 'would be' : 'is'} ${status}\n`
            : `${display_id} is not changed: ${error.message} (${error.code})\n`,
        )
        .join('')
