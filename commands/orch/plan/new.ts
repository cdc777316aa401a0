import {resolve} from 'node:path'
import {formatPlan, type KeptPlan, OperationCommand, operationArgs, operationFlags} from '../../../src/cli/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'

const newPlan = commandCall(operationNamed('new_plan'))

export default class OrchPlanNew extends OperationCommand<typeof OrchPlanNew> {
  static override summary = newPlan.operation.summary
  static override description =
    `Each line, numbered item and clause of the goal becomes a step that depends on the previous one; a final step verifies
the work. If orchestrator.planning_llm_synthesis_enabled is true, a model creates the steps instead. Tasks are submitted
only by svc orch plan execute.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> "Add paging to the inbox; update the docs" --scope-file src/inbox.ts',
    '<%= config.bin %> <%= command.id %> - --write < GOAL.md',
    'plan=$(<%= config.bin %> <%= command.id %> "Fix the parser and add tests" --json | jq -r .session_id)',
  ]
  static override args = operationArgs(newPlan)
  static override flags = operationFlags(newPlan)

  async run(): Promise<void> {
    const flags = this.flags as {'scope-file'?: string[]}
    // The operation resolves paths relative to the workspace root; on the command line they are relative to the cwd.
    if (flags['scope-file'] !== undefined) flags['scope-file'] = flags['scope-file'].map((path) => resolve(path))
    await this.output.result(await this.perform<KeptPlan>(newPlan), formatPlan)
  }
}
