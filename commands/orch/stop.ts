import {Flags} from '@oclif/core'
import {OrchCommand} from '../../src/cli/index.js'
import type {OrchStopV1} from '../../src/contracts/index.js'
import {counted} from '../../src/errors/index.js'

export default class OrchStop extends OrchCommand<typeof OrchStop> {
  static override summary = 'Stop all running tasks and refuse new ones.'
  static override description =
    `Running tasks are queued again, and their results are rejected. The daemon keeps running, but starts nothing. New tasks
and claims are refused until svc orch start. To stop only the daemon, run svc daemon stop.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --emergency',
    '<%= config.bin %> <%= command.id %> --emergency --reason "the model deletes files"',
  ]
  static override flags = {
    emergency: Flags.boolean({description: 'Confirm the stop.', required: true}),
    reason: Flags.string({char: 'r', description: 'Reason, shown with every refusal.', helpValue: 'TEXT'}),
  }

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const requeued = modules.tasks.emergencyStop(orchestrator, this.flags.reason?.trim() || undefined)
    const result: OrchStopV1 = {requeued}
    const count = counted(requeued.length, 'running task')
    await this.output.result(result, () => `Stopped; ${count} requeued. Run \`svc orch start\` to continue.`)
  }
}
