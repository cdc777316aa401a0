import {Flags} from '@oclif/core'
import {OrchCommand, taskArg, taskLine} from '../../src/cli/index.js'
import {SvcError} from '../../src/errors/index.js'

export default class OrchResolve extends OrchCommand<typeof OrchResolve> {
  static override summary = 'Resolve the doubt about a task.'
  static override description =
    `Requires --justified or --validated. --justified appends the report to the task and requeues it. --validated restores
the previous state; a task that was running is requeued, or completed with --no-resume. The task returns to its previous
agent and role. Prints the reputation points that the agent earned.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> T-0042 --justified --report "Keep the old format readable"',
    'cat report.md | <%= config.bin %> <%= command.id %> T-0042 --validated --no-resume --report -',
  ]
  static override args = {id: taskArg}
  static override flags = {
    validated: Flags.boolean({
      description: 'Reject the doubt and restore the previous state of the task.',
      exactlyOne: ['validated', 'justified'],
    }),
    justified: Flags.boolean({
      description: 'Confirm the doubt, append the report and requeue the task.',
      exactlyOne: ['validated', 'justified'],
    }),
    report: Flags.string({
      description: 'Findings about the doubt; - reads standard input.',
      required: true,
      helpValue: 'TEXT',
    }),
    'no-resume': Flags.boolean({
      description: 'Complete the validated task instead of requeuing it.',
      dependsOn: ['validated'],
    }),
  }

  async run(): Promise<void> {
    const {validated = false, 'no-resume': isDone} = this.flags
    const report = await this.textOf(this.flags.report)
    if (report.trim() === '') throw new SvcError('usage', {reason: 'The report is empty.'})
    const {modules, orchestrator} = await this.open()
    const task = modules.tasks.resolveDoubt(orchestrator, this.args.id, {validated, report, resume: !isDone})
    const awards = modules.tasks.awardsOf(orchestrator, task.id)
    await this.output.result({task, awards}, () =>
      [
        taskLine(task),
        ...awards.map(
          ({award, points, agent_id: agent}) =>
            `${modules.tasks.displayAgent(agent)} earned ${points} points: ${award}`,
        ),
      ].join('\n'),
    )
  }
}
