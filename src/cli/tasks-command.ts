import {Args, type Command, Flags} from '@oclif/core'
import type {OrchOutcomesV1} from '../contracts/index.js'
import {Exit, SvcError} from '../errors/index.js'
import type {WorkspaceModules} from '../operations/index.js'
import type {Orchestrator} from '../orchestrator/index.js'
import {requireAgent, type Task, type TaskFilter} from '../tasks/index.js'
import {taskStatuses} from '../workspace/index.js'
import {OrchCommand, parseTaskId} from './orch-command.js'
import {durationFlag} from './time-flags.js'

/** The states of unfinished tasks. */
export const openStatuses: readonly Task['status'][] = [
  'Queued',
  'InProgress',
  'RemoteHold',
  'Blocked',
  'BlockedOnApproval',
  'Doubted',
]

export const statusFlag = Flags.custom<Task['status']>({
  char: 's',
  helpValue: 'STATUS',
  parse: async (value) => {
    const labels = [...taskStatuses, 'RemoteHold'] as const
    const found = labels.find((label) => label.toLowerCase() === value.trim().toLowerCase())
    if (found !== undefined) return found
    throw new SvcError('flag_value', {flag: '--status', value, expected: `one of ${labels.join(', ')}`})
  },
})

export const taskFilterFlags = {
  status: statusFlag({
    description: 'Only tasks with this status, such as queued or failed; may be repeated.',
    multiple: true,
    multipleNonGreedy: true,
  }),
  agent: Flags.string({char: 'a', description: 'Only tasks of this agent (name or id).', helpValue: 'NAME'}),
  'session-id': Flags.string({description: 'Only tasks of this session.', helpValue: 'ID'}),
  'older-than': durationFlag({
    description:
      'Minimum time, such as 2h or 30d, since the task finished or, if it is unfinished, since it was submitted.',
  }),
}

interface FilterFlags {
  readonly status?: readonly Task['status'][] | undefined
  readonly agent?: string | undefined
  readonly 'session-id'?: string | undefined
  readonly 'older-than'?: number | undefined
}

/** @throws agent_not_found */
export const taskFilter = (
  orchestrator: Orchestrator,
  {status, agent, 'session-id': sessionId, 'older-than': age}: FilterFlags,
): TaskFilter => ({
  ...(status === undefined ? {} : {status}),
  ...(agent === undefined ? {} : {agentId: requireAgent(orchestrator, agent).id}),
  ...(sessionId === undefined ? {} : {sessionId}),
  ...(age === undefined ? {} : {olderThanMs: orchestrator.now() - age}),
})

export const taskArgs = {
  id: Args.string({description: 'Task ids: 42 or T-0042.', required: false}),
}

/** @param all description of `--all` */
export const manyTasksFlags = (all: string) => ({
  ...taskFilterFlags,
  all: Flags.boolean({description: all, exclusive: Object.keys(taskFilterFlags)}),
  'dry-run': Flags.boolean({description: 'Show the outcome without changing anything.'}),
})

/** Base of commands that apply an action to all tasks selected by arguments or filters. */
export abstract class TasksCommand<T extends typeof Command = typeof Command> extends OrchCommand<T> {
  /** The task id if exactly one is given without --dry-run. */
  protected async single(): Promise<number | undefined> {
    const [id, ...others] = await this.#taskIds()
    return others.length === 0 && !this.#isDryRun ? id : undefined
  }

  /**
   * Applies the action to all selected tasks and prints the outcome of each.
   * @param statuses of the tasks that filters without --status select
   */
  protected async actOnAll(
    statuses: readonly Task['status'][],
    act: (
      modules: WorkspaceModules,
      orchestrator: Orchestrator,
      ids: readonly number[],
      dryRun: boolean,
    ) => OrchOutcomesV1['tasks'],
  ): Promise<void> {
    const argumentIds = await this.#taskIds()
    const {modules, orchestrator} = await this.open()
    const filter = {status: statuses, ...taskFilter(orchestrator, this.flags as FilterFlags)}
    const ids = argumentIds.length > 0 ? argumentIds : modules.tasks.listTaskIds(orchestrator, filter)
    const tasks = act(modules, orchestrator, ids, this.#isDryRun)
    const failed = tasks.filter(({error}) => error !== undefined).length
    const result: OrchOutcomesV1 = {dry_run: this.#isDryRun, failed, tasks}
    await this.output.result(result, formatOutcomes)
    if (failed > 0) process.exitCode = Exit.failed
  }

  get #isDryRun(): boolean {
    return (this.flags as {'dry-run'?: boolean})['dry-run'] === true
  }

  /** The task ids of the arguments; empty if filters are used. @throws usage */
  async #taskIds(): Promise<number[]> {
    const ids = await Promise.all(this.argumentList.map(parseTaskId))
    const flags = this.flags as Readonly<Record<string, unknown>>
    const filters = ['all', ...Object.keys(taskFilterFlags)].filter((name) => flags[name] !== undefined)
    if (ids.length > 0 && filters.length > 0)
      throw new SvcError('usage', {reason: `Use either task ids or --${filters[0]}, not both.`})
    if (ids.length === 0 && filters.length === 0)
      throw new SvcError('usage', {reason: 'No tasks selected. Pass task ids, a filter such as --agent, or --all.'})
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
            : `${display_id} is unchanged: ${error.message} (${error.code})\n`,
        )
        .join('')
