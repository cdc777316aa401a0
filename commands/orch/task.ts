import {Flags} from '@oclif/core'
import {
  followOutput,
  formatEvidence,
  formatGates,
  formatTask,
  notCompleted,
  OrchCommand,
  taskArg,
} from '../../src/cli/index.js'

export default class OrchTask extends OrchCommand<typeof OrchTask> {
  static override summary = 'Show a task, its output and its result.'
  static override description =
    `The output of a task's command is stored up to orchestrator.exec.max_output_bytes; the middle of longer output is
dropped. The task is shown with the last lines; --output and --json print the complete stored output.

--wait waits until the task is finished and then prints it. --follow prints the output of the command while it runs.
Both exit with status 1 if the task was not completed. With --follow --json, each chunk of output is a line such as
{"text": "…"}; the last line is the task.

--evidence prints what supports the completion of the task: required checks, artifacts and acceptance lines, the results
of checks, and the files that it changed. For a task in progress, the evidence is collected now, without running
checks.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> T-0042',
    '<%= config.bin %> <%= command.id %> T-0042 --output | less',
    '<%= config.bin %> <%= command.id %> $id --wait',
    '<%= config.bin %> <%= command.id %> $id --follow',
    '<%= config.bin %> <%= command.id %> T-0042 --evidence',
    '<%= config.bin %> <%= command.id %> 42 --json | jq -r .result.text',
  ]
  static override args = {id: taskArg}
  static override flags = {
    output: Flags.boolean({description: 'Print only the output of the command of the task.'}),
    follow: Flags.boolean({char: 'f', description: 'Follow the output until the task is finished.'}),
    evidence: Flags.boolean({
      description: 'Print only the evidence for its completion, with grade and age.',
      exclusive: ['follow', 'output', 'wait'],
    }),
    wait: Flags.boolean({description: 'Wait until the task is finished.', exclusive: ['follow', 'output']}),
  }

  protected override get whenUnread() {
    // The exit status of a wait is that of the task.
    return this.flags.wait ? 'finishes' : 'ends'
  }

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {id} = this.args
    if (this.flags.follow) {
      const {json} = this.output
      const print = (text: string) => (json ? this.output.line({text}) : this.output.piece(text))
      const task = await followOutput(modules, orchestrator, id, {signal: this.signal, print})
      if (task.status !== 'Completed') throw notCompleted(task)
      await this.output.event(task)
      return
    }
    if (this.flags.wait) {
      const task = modules.tasks.requireTask(orchestrator, id)
      this.warnWithoutDaemon(modules, orchestrator, [task])
      return this.printEnd(await this.waitFor(modules, orchestrator, task), modules)
    }
    if (this.flags.evidence) {
      const evaluation = await modules.tasks.taskEvidence(orchestrator, id, {signal: this.signal})
      return this.output.result(evaluation, (found) => `${formatEvidence(found, this.view)}${formatGates(found)}`)
    }
    const task = modules.tasks.taskInDetail(orchestrator, id)
    if (this.flags.output && !this.output.json) await this.output.piece(task.output?.text ?? '')
    else await this.output.result(task, () => formatTask(task, modules.tasks, this.view.width))
  }
}
