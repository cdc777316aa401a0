import {Args} from '@oclif/core'
import {formatRuns, formatTable, OperationCommand, operationFlags} from '../../src/cli/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'
import type {RunSummary} from '../../src/workflow/index.js'

const listRuns = commandCall(operationNamed('list_workflow_runs'))

export default class WorkflowList extends OperationCommand<typeof WorkflowList> {
  static override summary = 'List workflow runs, or the workflows of a file.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --status waiting',
    '<%= config.bin %> <%= command.id %> release.yaml',
  ]
  static override args = {file: Args.string({description: 'Workflow file. (default: list the runs)'})}
  static override flags = operationFlags(listRuns)

  async run(): Promise<void> {
    const {file} = this.args
    if (file !== undefined) return this.#listFile(file)
    const result = await this.perform<{runs: RunSummary[]}>(listRuns)
    await this.output.result(result, ({runs}) => formatRuns(runs, process.stdout.columns))
  }

  async #listFile(file: string): Promise<void> {
    const {loadWorkflows} = await import('../../src/workflow/index.js')
    const {readWorkflows} = await loadWorkflows()
    const workflows = (await readWorkflows(file)).map(({name, description = '', inputs}) => ({
      name,
      description,
      inputs,
    }))
    await this.output.result({workflows}, () =>
      formatTable(
        ['WORKFLOW', 'INPUTS', 'DESCRIPTION'],
        workflows.map(({name, inputs, description}) => [name, inputsText(inputs), description]),
        process.stdout.columns,
      ),
    )
  }
}

const inputsText = (inputs: Readonly<Record<string, {fallback: unknown}>>): string =>
  Object.entries(inputs)
    .map(([name, {fallback}]) => (fallback === undefined ? name : `${name}=${JSON.stringify(fallback)}`))
    .join(' ')
