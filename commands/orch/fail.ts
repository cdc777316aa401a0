import {OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Task} from '../../src/tasks/index.js'

const failTask = commandCall(operationNamed('fail_task'))

export default class OrchFail extends OperationCommand<typeof OrchFail> {
  static override summary = failTask.operation.summary
  static override description =
    `The tasks that wait for it fail too; svc orch retry --dependants tries them all again. A task that somebody holds is failed
under that claim alone: --claim names it, and --force takes the task over, which svc orch events shows. A task with retries
left is queued again, unless it is failed with --force.`
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042 --claim 1 -r "the tests do not pass"']
  static override args = operationArgs(failTask)
  static override flags = operationFlags(failTask)

  async run(): Promise<void> {
    const {task} = await this.perform<{task: Task}>(failTask)
    await this.printTask(task)
  }
}
