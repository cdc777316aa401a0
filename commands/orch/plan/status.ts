import {formatPlanStatus, OperationCommand, operationArgs} from '../../../src/cli/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'
import type {PlanStatus} from '../../../src/plans/index.js'

const planStatus = commandCall(operationNamed('plan_status'))

export default class OrchPlanStatus extends OperationCommand<typeof OrchPlanStatus> {
  static override summary = planStatus.operation.summary
  static override description =
    `Shows the latest version of the plan. For each step, shows its task, its attempts, and why it failed or could not be
submitted.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> plan-3d0f8a52-6b1e-4c53-9a6a-0f9f2f1f7a11',
    '<%= config.bin %> <%= command.id %> "$plan" --json | jq .step_counts',
  ]
  static override args = operationArgs(planStatus)

  async run(): Promise<void> {
    const {displayTask} = await import('../../../src/tasks/index.js')
    const status = await this.perform<PlanStatus>(planStatus)
    await this.output.result(status, () => formatPlanStatus(status, displayTask, this.view))
  }
}
