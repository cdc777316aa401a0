import {formatRun, OperationCommand, operationArgs} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {RunReport} from '../../src/workflow/index.js'

const workflowStatus = commandCall(operationNamed('workflow_status'))

export default class WorkflowStatus extends OperationCommand<typeof WorkflowStatus> {
  static override summary = workflowStatus.operation.summary
  static override examples = [
    '<%= config.bin %> <%= command.id %> wf-release-0b7c',
    '<%= config.bin %> <%= command.id %> wf-release-0b7c --json | jq \'.activities[] | select(.status == "started")\'',
  ]
  static override args = operationArgs(workflowStatus)

  async run(): Promise<void> {
    const report = await this.perform<RunReport>(workflowStatus)
    await this.output.result(report, (run) => formatRun(run, this.view.width))
  }
}
