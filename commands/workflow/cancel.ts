import {Args} from '@oclif/core'
import {WorkflowCommand} from '../../src/cli/index.js'

export default class WorkflowCancel extends WorkflowCommand<typeof WorkflowCancel> {
  static override summary = 'Cancel a run and undo its completed steps.'
  static override description =
    `Compensations of completed steps run, the latest first. A process that drives the run does that; otherwise this command
does.`
  static override examples = ['<%= config.bin %> <%= command.id %> wf-release-0b7c']
  static override args = {run: Args.string({description: 'Run id.', required: true})}

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {cancelRun} = await modules.workflows.loadWorkflows()
    const {run} = this.args
    const ports = this.activityPorts(orchestrator)
    const {status} = await cancelRun(orchestrator, run, {ports, signal: this.signal, stays: true})
    const result = {run_id: run, status}
    await this.output.result(result, () => (status === 'cancelled' ? `${run} cancelled` : `${run} is being cancelled`))
  }
}
