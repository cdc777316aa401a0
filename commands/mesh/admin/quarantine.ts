import {Args} from '@oclif/core'
import {asNode, controlUrlFlag, MeshCommand, stateFlag} from '../../../src/cli/index.js'

export default class MeshAdminQuarantine extends MeshCommand<typeof MeshAdminQuarantine> {
  static override summary = 'Put a node into quarantine, or let it out.'
  static override description =
    `A node in quarantine gets no leases and no messages, and cannot renew those that it has. That outlasts its leaving, its
joining anew and a restart of the control plane. Takes the token of an administrator, or of the role mesh.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> node-7f3a --state on',
    '<%= config.bin %> <%= command.id %> node-7f3a --state off',
  ]
  static override args = {node: Args.string({description: 'The node.', required: true, parse: asNode('NODE')})}
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
