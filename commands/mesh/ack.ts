import {Args} from '@oclif/core'
import {asAgent, asMessage, controlUrlFlag, MeshCommand, nodeFlag} from '../../src/cli/index.js'
import {SvcError} from '../../src/errors/index.js'

export default class MeshAck extends MeshCommand<typeof MeshAck> {
  static override summary = 'Acknowledge a message of the mesh.'
  static override description =
    `The message is done, and nobody is given it again; acknowledged again, it stays so. A message that another node has claimed
is that one's to acknowledge: the command ends with 4.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> 2 1042',
    '<%= config.bin %> <%= command.id %> 2 1042 --node node-7f3a',
  ]
  static override args = {
    agent: Args.string({
      description: 'The agent that it is for, by its number.',
      required: true,
      parse: asAgent('AGENT'),
    }),
    message: Args.custom<number>({parse: asMessage('MESSAGE')})({
      description: 'The message, by its number.',
      required: true,
    }),
  }
  static override flags = {...controlUrlFlag, ...nodeFlag}

  async run(): Promise<void> {
    const {agent, message} = this.args
    const claimer = await this.node()
    const client = await this.client(claimer)
    const isFound = await client.ack({receiver: agent, message, claimer}, {signal: this.signal})
    if (!isFound) throw new SvcError('mesh_missing', {operation: 'a2a_ack', status: 404, problem: 'message_not_found'})
    const result = {receiver_agent_id: agent, message_id: message, acknowledged: true}
    await this.output.result(result, () => `message ${message} is acknowledged`)
  }
}
