import {Flags} from '@oclif/core'
import {formatAttention, OrchCommand} from '../../src/cli/index.js'
import type {OrchAttentionV1} from '../../src/contracts/index.js'

export default class OrchAttention extends OrchCommand<typeof OrchAttention> {
  static override summary = 'Show the attention budget of the user.'
  static override description =
    `Shows how much attention the approval and rejection of tasks has taken since midnight, and the latest requests of
agents. Nothing is counted unless orchestrator.attention_enabled is true. An exhausted budget refuses new tasks and plans
of agents until midnight or a reset.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --reset',
    '<%= config.bin %> <%= command.id %> --json | jq .budget.spent_ratio',
  ]
  static override flags = {
    hours: Flags.integer({description: 'Only requests of the last hours.', min: 1, max: 8760, default: 24}),
    reset: Flags.boolean({description: 'Restart the budget.'}),
  }

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {attentionBudget, attentionHistory, displayTask, resetAttention} = modules.tasks
    const budget = this.flags.reset ? resetAttention(orchestrator) : attentionBudget(orchestrator)
    const report: OrchAttentionV1 = {budget, events: attentionHistory(orchestrator, this.flags.hours)}
    await this.output.result(report, (attention) => formatAttention(attention, displayTask, this.view))
  }
}
