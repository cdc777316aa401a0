import {Args} from '@oclif/core'
import {formatTable, SvcCommand, wrapped} from '../../src/cli/index.js'

export default class WorkflowCheck extends SvcCommand<typeof WorkflowCheck> {
  static override summary = 'Check workflow files.'
  static override description =
    `Checks the format, the expressions, and the ids of the steps. Editors can use the schema that svc contracts list names
workflow/workflow.v1.`
  static override examples = ['<%= config.bin %> <%= command.id %> release.yaml']
  static override strict = false
  static override args = {file: Args.string({description: 'Workflow file; may be repeated.', required: true})}

  async run(): Promise<void> {
    const {loadWorkflows} = await import('../../src/workflow/index.js')
    const {everyStep, readWorkflows} = await loadWorkflows()
    const files = await Promise.all(
      this.argumentList.map(async (file) => ({file, workflows: await readWorkflows(file)})),
    )
    const result = files.flatMap(({file, workflows}) =>
      workflows.map(({name, steps, digest}) => ({file, name, steps: [...everyStep(steps)].length, digest})),
    )
    await this.output.result({workflows: result}, ({workflows}) =>
      formatTable(
        [wrapped('FILE'), 'WORKFLOW', 'STEPS'],
        workflows.map(({file, name, steps}) => [file, name, String(steps)]),
        this.view,
      ),
    )
  }
}
