import {formatPlan, type KeptPlan, OperationCommand, operationArgs, operationFlags} from '../../../src/cli/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'

const replan = commandCall(operationNamed('replan'))

export default class OrchPlanReplan extends OperationCommand<typeof OrchPlanReplan> {
  static override summary = replan.operation.summary
  static override description =
    `Appends DELTA to the goal and creates a new version of the plan. Completed steps are kept. All other steps are planned
again, and their tasks are cancelled, even if they are running. Start the new version with svc orch plan execute.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> plan-3d0f8a52-6b1e-4c53-9a6a-0f9f2f1f7a11 "Keep the old cursor working"',
  ]
  static override args = operationArgs(replan)
  static override flags = operationFlags(replan)

  async run(): Promise<void> {
    await this.output.result(await this.perform<KeptPlan>(replan), formatPlan)
  }
}
