import {Args} from '@oclif/core'
import {OrchCommand} from '../../src/cli/index.js'
import type {Replay} from '../../src/workflow/index.js'

export default class WorkflowReplay extends OrchCommand<typeof WorkflowReplay> {
  static override summary = 'Replay a run from its recorded results.'
  static override description =
    `Nothing is executed or written. The exit status is 1 if the evaluation does not reproduce the outcome of the run.`
  static override examples = ['<%= config.bin %> <%= command.id %> wf-release-0b7c']
  static override args = {run: Args.string({description: 'Run id.', required: true})}

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {replayRun} = await modules.workflows.loadWorkflows()
    const replay = await replayRun(orchestrator, this.args.run)
    await this.output.result(replay, formatReplay)
    if (!replay.reproduced) process.exitCode = 1
  }
}

function formatReplay({run_id, status, activities, output, error, stopped_at, reproduced}: Replay): string {
  const verdict = reproduced ? 'reproduced' : 'NOT reproduced'
  const lines = [`${run_id}: ${status}, ${activities} recorded results, ${verdict}`]
  if (error !== undefined) lines.push(`error: ${error}`)
  if (stopped_at !== undefined) lines.push(`first activity without a result: ${stopped_at}`)
  if (output !== undefined && output !== null) lines.push(JSON.stringify(output, null, 2))
  return lines.join('\n')
}
