import {Args, Flags} from '@oclif/core'
import {driveFlags, WorkflowCommand} from '../../src/cli/index.js'

export default class WorkflowResume extends WorkflowCommand<typeof WorkflowResume> {
  static override summary = 'Resume an interrupted, waiting or failed run.'
  static override description =
    `Completed steps are not repeated: their results are read from the store. A failed step gets all its attempts again. If
the workflow file has changed since the run started, the change must be adopted.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> wf-release-0b7c',
    '<%= config.bin %> <%= command.id %> wf-release-0b7c --adopt',
  ]
  static override args = {run: Args.string({description: 'Run id.', required: true})}
  static override flags = {
    adopt: Flags.boolean({description: 'Continue with the changed definition.'}),
    ...driveFlags,
  }

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {resumeRun, workflowOf} = await modules.workflows.loadWorkflows()
    const {run} = this.args
    const {adopt} = this.flags
    const workflow = workflowOf(modules.workflows.requireRun(orchestrator, run))
    await this.drive(modules, orchestrator, workflow, (options) => resumeRun(orchestrator, run, {...options, adopt}))
  }
}
