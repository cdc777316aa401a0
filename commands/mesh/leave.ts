import {controlUrlFlag, MeshCommand, nodeFlag} from '../../src/cli/index.js'

export default class MeshLeave extends MeshCommand<typeof MeshLeave> {
  static override summary = 'Remove a node from a mesh.'
  static override description =
    `Releases the leases of the node and makes its claimed messages available to other nodes. Stop a running svc mesh join of
this node first: its next heartbeat would add the node again. If the node is quarantined, its id stays quarantined.
Removing a node that is not listed is not an error.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --node node-7f3a',
  ]
  static override flags = {...controlUrlFlag, ...nodeFlag}

  async run(): Promise<void> {
    const node = await this.node()
    const client = await this.client(node)
    const left = await client.leave(node, {signal: this.signal})
    await this.output.result({node_id: node, left}, () => (left ? 'left' : 'not found'))
  }
}
