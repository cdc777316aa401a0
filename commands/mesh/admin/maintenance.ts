import {Args, Flags} from '@oclif/core'
import {asNode, controlUrlFlag, MeshCommand, stateFlag} from '../../../src/cli/index.js'
import {formatMoment} from '../../../src/config/index.js'
import type {MeshMaintenanceV1} from '../../../src/contracts/index.js'
import {SvcError} from '../../../src/errors/index.js'

const minuteMs = 60_000
/** The maximum time of a `Date`, ms. */
const latestTimeMs = 8_640_000_000_000_000

export default class MeshAdminMaintenance extends MeshCommand<typeof MeshAdminMaintenance> {
  static override summary = 'Set or clear maintenance mode on a node.'
  static override description =
    `A node in maintenance drains: it receives no new leases or messages, but can renew and finish existing ones until the
deadline. Without a deadline, maintenance lasts until it is cleared with --state off. Requires a token of the role admin
or mesh.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> node-7f3a --state on --for-minutes 30',
    '<%= config.bin %> <%= command.id %> node-7f3a --state off',
  ]
  static override args = {node: Args.string({description: 'Node id.', required: true, parse: asNode('NODE')})}
  static override flags = {
    ...controlUrlFlag,
    state: stateFlag(),
    'until-unix-ms': Flags.integer({
      description: 'End of maintenance in Unix milliseconds, instead of --for-minutes.',
      min: 1,
      max: latestTimeMs,
      helpValue: 'MS',
      exclusive: ['for-minutes'],
    }),
    'for-minutes': Flags.integer({
      description: 'Duration of maintenance, at most one week. (default: until cleared)',
      min: 1,
      max: 10_080,
      helpValue: 'MINUTES',
      exclusive: ['until-unix-ms'],
    }),
  }

  async run(): Promise<void> {
    const {node} = this.args
    const {state, 'until-unix-ms': untilUnixMs, 'for-minutes': minutes} = this.flags
    const maintenance = state === 'on'
    if (!maintenance && (untilUnixMs !== undefined || minutes !== undefined))
      throw new SvcError('usage', {reason: '--state off cannot be combined with a deadline.'})
    if (untilUnixMs !== undefined && untilUnixMs <= Date.now())
      throw new SvcError('flag_value', {
        flag: '--until-unix-ms',
        value: String(untilUnixMs),
        expected: 'a future time in Unix milliseconds',
      })
    const client = await this.client()
    const forMs = minutes === undefined ? undefined : minutes * minuteMs
    await client.setMaintenance({node, maintenance, untilUnixMs, forMs}, {signal: this.signal})
    const endsMs = forMs === undefined ? untilUnixMs : Date.now() + forMs
    const result: MeshMaintenanceV1 = {
      node_id: node,
      maintenance,
      ...(endsMs === undefined ? {} : {maintenance_until_unix_ms: endsMs}),
    }
    const until = endsMs === undefined ? '' : ` until ${formatMoment(endsMs)}`
    await this.output.result(
      result,
      () => `${node} is ${maintenance ? `in maintenance${until}` : 'out of maintenance'}`,
    )
  }
}
