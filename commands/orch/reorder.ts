import {OperationCommand, operationArgs} from '../../src/cli/index.js'
import {SvcError} from '../../src/errors/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {Task} from '../../src/tasks/index.js'

const reorderTask = commandCall(operationNamed('reorder_task'))

async function priority(value: string): Promise<string> {
  const {priorities} = await import('../../src/workspace/index.js')
  const found = priorities.find((each) => each === value.trim().toLowerCase())
  if (found !== undefined) return found
  throw new SvcError('flag_value', {flag: 'PRIORITY', value, expected: `one of ${priorities.join(', ')}`})
}

export default class OrchReorder extends OperationCommand<typeof OrchReorder> {
  static override summary = reorderTask.operation.summary
  static override description = 'Tasks run in order of priority: urgent, normal, background.'
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042 urgent']
  static override args = operationArgs(reorderTask, {priority})

  async run(): Promise<void> {
    const {task} = await this.perform<{task: Task}>(reorderTask)
    await this.printTask(task)
  }
}
