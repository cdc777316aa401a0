import {executionText, OperationCommand, operationArgs, operationFlags} from '../../../src/cli/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'
import type {Execution} from '../../../src/plans/index.js'

const executePlan = commandCall(operationNamed('execute_plan'))

export default class OrchPlanExecute extends OperationCommand<typeof OrchPlanExecute> {
  static override summary = executePlan.operation.summary
  static override description =
    `Prints the ids of the submitted tasks. Each step is submitted when the steps it depends on are completed; this requires
a running daemon. Every task waits for svc orch approve unless orchestrator.planning_auto_mode_enabled is true.

If a step cannot be submitted, for example because a queue is full, the daemon retries it. To retry it immediately, run
the command again.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> plan-3d0f8a52-6b1e-4c53-9a6a-0f9f2f1f7a11',
    'for task in $(<%= config.bin %> <%= command.id %> "$plan"); do svc orch approve "$task"; done',
  ]
  static override args = operationArgs(executePlan)
  static override flags = operationFlags(executePlan)

  async run(): Promise<void> {
    const {displayTask} = await import('../../../src/tasks/index.js')
    const execution = await this.perform<Execution>(executePlan)
    for (const {node_id, reason} of execution.held ?? [])
      this.output.notice(`notice: ${node_id} was not submitted: ${reason}`)
    await this.output.result(execution, () => executionText(execution, displayTask))
  }
}
