import {Flags} from '@oclif/core'
import {eventLine, eventTypes, OrchCommand, taskFlag} from '../../src/cli/index.js'
import type {Orchestrator} from '../../src/orchestrator/index.js'
import type {EventFilter, EventRecord} from '../../src/tasks/index.js'

/** Events per read. */
const pageSize = 1000

export default class OrchEvents extends OrchCommand<typeof OrchEvents> {
  static override summary = 'Show past events, or follow new ones.'
  static override description =
    `Prints one line per event, oldest first. With --json each line matches the contract orchestration/event.v1. --limit prints
the newest events; with --since or --follow, it prints the first ones instead.

--follow prints the new events of all processes until interrupted; with --since, it first prints the events after that
id. To resume without missing events, pass the id of the last event as --since.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --limit 20',
    '<%= config.bin %> <%= command.id %> --task T-0042',
    '<%= config.bin %> <%= command.id %> --follow --type task_failed --type task_doubted',
    '<%= config.bin %> <%= command.id %> --follow --since 118 --json',
  ]
  static override flags = {
    since: Flags.integer({description: 'Only events after this id.', min: 0, helpValue: 'ID'}),
    type: Flags.string({
      char: 't',
      description: 'Only events of this type, such as task_completed; may be repeated.',
      options: eventTypes,
      helpValue: 'TYPE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    task: taskFlag({description: 'Only events of this task.'}),
    limit: Flags.integer({
      description: 'Maximum number of events to print. (default: no limit)',
      min: 1,
      helpValue: 'N',
    }),
    follow: Flags.boolean({char: 'f', description: 'Print new events until interrupted.'}),
  }

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {since, type: types, task: taskId, limit = Number.POSITIVE_INFINITY, follow} = this.flags
    if (taskId !== undefined) modules.tasks.requireTask(orchestrator, taskId)
    if (since !== undefined && follow && modules.tasks.resumeEvents(orchestrator, since) < since)
      this.output.notice(`Event ${since} does not exist in this store. Only new events are printed.`)
    const isPast = since === undefined && !follow
    const filter = {
      ...(isPast && Number.isFinite(limit) ? {latest: limit} : {}),
      ...(since === undefined ? {} : {since}),
      ...(types === undefined ? {} : {types}),
      ...(taskId === undefined ? {} : {taskId}),
    }
    const events = follow
      ? modules.tasks.followEvents(orchestrator, filter, this.signal)
      : past(orchestrator, filter, modules.tasks.readEvents, this.signal)
    let count = 0
    for await (const event of events) {
      await this.output.line(event, eventLine(event, modules.tasks))
      if (++count >= limit) return
    }
  }
}

/** Reads events in pages, because there may be more than fit in memory. */
async function* past(
  orchestrator: Orchestrator,
  filter: EventFilter,
  read: (orchestrator: Orchestrator, filter: EventFilter) => EventRecord[],
  signal: AbortSignal,
): AsyncGenerator<EventRecord> {
  for (let since = filter.since ?? 0; ; ) {
    signal.throwIfAborted()
    const page = read(orchestrator, {...filter, since, limit: pageSize})
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return
    since = last.id
  }
}
