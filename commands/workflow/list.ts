import {Args, Flags} from '@oclif/core'
import {fileOrInput, formatRuns, formatTable, OrchCommand, tableFlags, wrapped} from '../../src/cli/index.js'
import {runStates} from '../../src/operations/index.js'

export default class WorkflowList extends OrchCommand<typeof WorkflowList> {
  static override summary = 'List workflow runs, or the workflows of a file.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --status waiting',
    '<%= config.bin %> <%= command.id %> release.yaml',
  ]
  static override args = {
    file: Args.string({description: 'Workflow file, or - for standard input. (default: list the runs)'}),
  }
  static override flags = {
    ...tableFlags,
    status: Flags.string({
      description: 'Only runs with this status.',
      options: [...runStates],
    }),
    workflow: Flags.string({description: 'Only runs of this workflow.', helpValue: 'NAME'}),
    limit: Flags.integer({description: 'Maximum number of runs.', default: 50, min: 1, max: 1000, helpValue: 'N'}),
  }

  async run(): Promise<void> {
    const {file} = this.args
    if (file !== undefined) return this.#listFile(file)
    const {modules, orchestrator} = await this.open()
    const runs = modules.workflows.listRuns(orchestrator, this.flags)
    await this.output.result({runs}, () => formatRuns(runs, this.view))
  }

  async #listFile(file: string): Promise<void> {
    const {loadWorkflows} = await import('../../src/workflow/index.js')
    const {readWorkflows} = await loadWorkflows()
    const workflows = (await readWorkflows(...(await fileOrInput(file, this.signal)))).map(
      ({name, description = '', inputs}) => ({
        name,
        description,
        inputs,
      }),
    )
    await this.output.result({workflows}, () =>
      formatTable(
        ['WORKFLOW', wrapped('INPUTS'), wrapped('DESCRIPTION')],
        workflows.map(({name, inputs, description}) => [name, inputsText(inputs), description]),
        this.view,
      ),
    )
  }
}

const inputsText = (inputs: Readonly<Record<string, {fallback: unknown}>>): string =>
  Object.entries(inputs)
    .map(([name, {fallback}]) => (fallback === undefined ? name : `${name}=${JSON.stringify(fallback)}`))
    .join(' ')
