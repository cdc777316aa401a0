import {Flags} from '@oclif/core'
import {OrchCommand, taskArg} from '../../src/cli/index.js'
import {formatMoment} from '../../src/config/index.js'
import type {OrchHeartbeatV1} from '../../src/contracts/index.js'

export default class OrchHeartbeat extends OrchCommand<typeof OrchHeartbeat> {
  static override summary = 'Extend the claim on a task.'
  static override description =
    `Exits with status 4 if the claim has expired. In that case, stop working on the task, because another worker may have
claimed it.`
  static override examples = ['<%= config.bin %> <%= command.id %> T-0042 --claim 1']
  static override args = {id: taskArg}
  static override flags = {
    claim: Flags.integer({
      description: 'Generation of the claim, as printed by svc orch claim.',
      required: true,
      min: 1,
      helpValue: 'N',
    }),
    ttl: Flags.integer({
      description:
        'Time after which the claim expires unless it is extended again. (default: four heartbeat intervals)',
      min: 1,
      max: 3600,
      helpValue: 'SECONDS',
    }),
  }

  async run(): Promise<void> {
    const {modules, orchestrator} = await this.open()
    const {id} = this.args
    const {claim: generation, ttl} = this.flags
    const ends = modules.tasks.renewClaim(orchestrator, id, {
      generation,
      ...(ttl === undefined ? {} : {ttlMs: ttl * 1000}),
    })
    const result: OrchHeartbeatV1 = {
      task_id: id,
      display_id: modules.tasks.displayTask(id),
      generation,
      expires_at_ms: ends,
    }
    await this.output.result(result, ({display_id}) => `Claim on ${display_id} extended until ${formatMoment(ends)}`)
  }
}
