import {formatPlans, OperationCommand, operationFlags, tableFlags} from '../../../src/cli/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'
import type {PlanSummary} from '../../../src/plans/index.js'

const listPlans = commandCall(operationNamed('list_plans'))

export default class OrchPlanList extends OperationCommand<typeof OrchPlanList> {
  static override summary = listPlans.operation.summary
  static override description =
    `A plan is pending until it is executed, and then active. It is completed when all its steps are completed, and failed
when no remaining step can run.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --status active',
    "<%= config.bin %> <%= command.id %> --json | jq -r '.plans[].session_id'",
  ]
  static override flags = {...operationFlags(listPlans), ...tableFlags}

  async run(): Promise<void> {
    const result = await this.perform<{plans: PlanSummary[]}>(listPlans)
    await this.output.result(result, ({plans}) => formatPlans(plans, this.view))
  }
}
