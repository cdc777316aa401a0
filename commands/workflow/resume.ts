import {Args, Flags} from '@oclif/core'
import {WorkflowCommand} from '../../src/cli/index.js'

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
    wait: Flags.boolean({description: 'Wait while the run waits.', default: true, allowNo: true}),
  }

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {resumeRun, workflowOf} = await modules.workflows.loadWorkflows()
    const {run} = this.args
    const {adopt, wait} = this.flags
    await this.drive(orchestrator, {
      workflow: workflowOf(modules.workflows.requireRun(orchestrator, run)),
      stays: wait,
      start: (options) => resumeRun(orchestrator, run, {...options, adopt}),
    })
  }
}
