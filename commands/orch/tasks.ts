import {Flags} from '@oclif/core'
import {formatTasks, OrchCommand, taskFlag} from '../../src/cli/index.js'
import {SvcError} from '../../src/errors/index.js'
import type {TaskLabel} from '../../src/orchestrator/index.js'

const statusFlag = Flags.custom<TaskLabel>({
  parse: async (value) => {
    const {taskStatuses} = await import('../../src/orchestrator/index.js')
    const labels = [...taskStatuses, 'RemoteHold'] as const
    const found = labels.find((label) => label.toLowerCase() === value.trim().toLowerCase())
    if (found !== undefined) return found
    throw new SvcError('flag_value', {flag: '--status', value, expected: `one of ${labels.join(', ')}`})
  },
})

export default class OrchTasks extends OrchCommand<typeof OrchTasks> {
  static override summary = 'List tasks, the newest first.'
  static override description =
    `With --watch the list is shown anew whenever it has changed, with --json as one value per line, until it is interrupted.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --status failed --status doubted',
    '<%= config.bin %> <%= command.id %> --limit 20 --before T-0120',
    "<%= config.bin %> <%= command.id %> --json | jq '.tasks[].display_id'",
  ]
  static override flags = {
    status: statusFlag({
      char: 's',
      description: 'Only tasks in this state, written in any case; may be repeated.',
      helpValue: 'STATUS',
      multiple: true,
      multipleNonGreedy: true,
    }),
    agent: Flags.string({char: 'a', description: 'Only tasks of this agent: its name or its id.', helpValue: 'NAME'}),
    'session-id': Flags.string({description: 'Only tasks of this session.', helpValue: 'ID'}),
    limit: Flags.integer({description: 'Most that are listed.', default: 50, min: 1, max: 10_000, helpValue: 'N'}),
    before: taskFlag({description: 'Only tasks that are older than this one: the next page.'}),
    watch: Flags.boolean({char: 'w', description: 'Go on, and show what changes.'}),
  }

  async run(): Promise<void> {
    const {room, orchestrator} = await this.open()
    const {status, agent, 'session-id': sessionId, limit, before: beforeId, watch} = this.flags
    const filter = {
      limit,
      ...(status === undefined ? {} : {status}),
      ...(agent === undefined ? {} : {agentId: room.requireAgent(orchestrator, agent).id}),
      ...(sessionId === undefined ? {} : {sessionId}),
      ...(beforeId === undefined ? {} : {beforeId}),
    }
    const read = () => ({tasks: room.listTasks(orchestrator, filter)})
    if (watch) await this.watch(read, ({tasks}) => formatTasks(tasks))
    else await this.output.result(read(), ({tasks}) => formatTasks(tasks))
  }
}
