import {Args} from '@oclif/core'
import {asNode, controlUrlFlag, MeshCommand, stateFlag} from '../../../src/cli/index.js'

export default class MeshAdminQuarantine extends MeshCommand<typeof MeshAdminQuarantine> {
  static override summary = 'Quarantine a node, or release it.'
  static override description =
    `A node in quarantine receives no leases or messages and cannot renew existing ones. The quarantine persists if the node leaves
and rejoins, and if the control plane restarts. Requires a token of the role admin or mesh.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> node-7f3a --state on',
    '<%= config.bin %> <%= command.id %> node-7f3a --state off',
  ]
  static override args = {node: Args.string({description: 'Node id.', required: true, parse: asNode('NODE')})}
  static override flags = {...controlUrlFlag, state: stateFlag()}

  async run(): Promise<void> {
    const {node} = this.args
    const quarantined = this.flags.state === 'on'
    const client = await this.client()
    await client.setQuarantine({node, quarantined}, {signal: this.signal})
    await this.output.result(
      {node_id: node, quarantined},
      () => `${node} is ${quarantined ? 'in quarantine' : 'out of quarantine'}`,
    )
  }
}
