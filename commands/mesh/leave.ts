import {controlUrlFlag, MeshCommand, nodeFlag} from '../../src/cli/index.js'

export default class MeshLeave extends MeshCommand<typeof MeshLeave> {
  static override summary = 'Take a node out of a mesh.'
  static override description =
    `Its leases end and its messages go to others at once. A process that still sends signs of life for it takes it in again:
stop that first. A quarantine stays with the id. Where the mesh does not have the node there is nothing to do, and that is no
error.`
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
