import {Flags} from '@oclif/core'
import {OrchCommand, taskArg, taskLine} from '../../src/cli/index.js'
import {SvcError} from '../../src/errors/index.js'

export default class OrchResolve extends OrchCommand<typeof OrchResolve> {
  static override summary = 'Settle the doubt of a task.'
  static override description =
    `A doubt that was justified makes the report part of the task, which is queued again. After one that was not, the task stands
as it did before; one that was running is queued again. --no-resume completes it instead. The task has its former agent and
role again. What the agent earned by its doubt is shown.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> T-0042 --justified --report "Keep the old format readable"',
    'cat report.md | <%= config.bin %> <%= command.id %> T-0042 --validated --no-resume --report -',
  ]
  static override args = {id: taskArg}
  static override flags = {
    validated: Flags.boolean({description: 'The work was sound as it stood.', exactlyOne: ['validated', 'justified']}),
    justified: Flags.boolean({description: 'The doubt was justified.', exactlyOne: ['validated', 'justified']}),
    report: Flags.string({
      description: 'What was found out; - reads it from standard input.',
      required: true,
      helpValue: 'TEXT',
    }),
    'no-resume': Flags.boolean({
      description: 'Complete the validated task instead of running it.',
      dependsOn: ['validated'],
    }),
  }

  async run(): Promise<void> {
    const {validated = false, 'no-resume': isDone} = this.flags
    const report = await this.textOf(this.flags.report)
    if (report.trim() === '') throw new SvcError('usage', {reason: 'The report is blank.'})
    const {modules, orchestrator} = await this.open()
    const task = modules.tasks.resolveDoubt(orchestrator, this.args.id, {validated, report, resume: !isDone})
    const awards = modules.tasks.awardsOf(orchestrator, task.id)
    await this.output.result({task, awards}, () =>
      [
        taskLine(task),
        ...awards.map(
          ({award, points, agent_id: agent}) =>
            `${modules.tasks.displayAgent(agent)} earned ${award}, ${points} points`,
        ),
      ].join('\n'),
    )
  }
}
