import {formatGates, OperationCommand, operationArgs, operationFlags, taskLine} from '../../src/cli/index.js'
import {SvcError} from '../../src/errors/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Completion} from '../../src/tasks/index.js'

const completeTask = commandCall(operationNamed('complete_task'))

export default class OrchComplete extends OperationCommand<typeof OrchComplete> {
  static override summary = completeTask.operation.summary
  static override description =
    `Releases the file locks of the task and queues the tasks that depend on it. A claimed task requires --claim with the
generation of the claim; --force overrides the claim and records an event.

The completion gates of the workspace judge the evidence first. Evidence is the files that the task changed, and checks
that svc ran or whose exit status it saw. The declarations below are only claims. If a gate refuses the task, it is
queued again with the findings in its description, or fails after too many attempts. The exit status is then 1.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> T-0042 --claim 1 --summary "Added, with a test"',
    'cat report.md | <%= config.bin %> <%= command.id %> T-0042 --summary -',
  ]
  static override args = operationArgs(completeTask)
  static override flags = operationFlags(completeTask)

  async run(): Promise<void> {
    const completion = await this.perform<Completion>(completeTask)
    const {task, outcome} = completion
    if (outcome === 'completed') return this.printTask(task)
    // With --json, a failure is printed as one value, the error.
    await this.output.piece(`${taskLine(task)}\n${task.evaluation ? formatGates(task.evaluation) : ''}`)
    const {gate, iteration, cap} = completion
    throw new SvcError('completion_refused', {task: task.display_id, gate, outcome, iteration, cap})
  }
}
