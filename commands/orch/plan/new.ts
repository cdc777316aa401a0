import {resolve} from 'node:path'
import {formatPlan, type KeptPlan, OperationCommand, operationArgs, operationFlags} from '../../../src/cli/index.js'
import {commandCall, operationNamed} from '../../../src/operations/index.js'

const newPlan = commandCall(operationNamed('new_plan'))

export default class OrchPlanNew extends OperationCommand<typeof OrchPlanNew> {
  static override summary = newPlan.operation.summary
  static override description =
    `The goal is read from standard input where - is given. Every line, numbered item and clause of it becomes a step after
the one before it, and a last step checks the work; with orchestrator.planning_llm_synthesis_enabled a model makes the
steps instead. Nothing is submitted until svc orch plan execute.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> "Add paging to the inbox; update the docs" --scope-file src/inbox.ts',
    '<%= config.bin %> <%= command.id %> - --write < GOAL.md',
    'plan=$(<%= config.bin %> <%= command.id %> "Fix the parser and add tests" --json | jq -r .session_id)',
  ]
  static override args = operationArgs(newPlan)
  static override flags = operationFlags(newPlan)

  async run(): Promise<void> {
    const flags = this.flags as {'scope-file'?: string[]}
    // The operation takes paths from the root of the workspace; a person means them from the current folder.
    if (flags['scope-file'] !== undefined) flags['scope-file'] = flags['scope-file'].map((path) => resolve(path))
    await this.output.result(await this.perform<KeptPlan>(newPlan), formatPlan)
  }
}
