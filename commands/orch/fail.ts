import {OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Task} from '../../src/tasks/index.js'

const failTask = commandCall(operationNamed('fail_task'))

export default class OrchFail extends OperationCommand<typeof OrchFail> {
  static override summary = failTask.operation.summary
  static override description =
    `Tasks that depend on the failed task fail too; svc orch retry --dependants retries all of them. A claimed task requires
--claim with the generation of the claim; --force overrides the claim and records an event. A task with retries left is
requeued unless --force is given.`
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042 --claim 1 -r "the tests do not pass"']
  static override args = operationArgs(failTask)
  static override flags = operationFlags(failTask)

  async run(): Promise<void> {
    const {task} = await this.perform<{task: Task}>(failTask)
    await this.printTask(task)
  }
}
