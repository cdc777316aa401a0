import {Args} from '@oclif/core'
import {asAgent, asMessage, controlUrlFlag, MeshCommand, nodeFlag} from '../../src/cli/index.js'
import {SvcError} from '../../src/errors/index.js'

export default class MeshAck extends MeshCommand<typeof MeshAck> {
  static override summary = 'Acknowledge a mesh message.'
  static override description =
    `An acknowledged message is not delivered again. Acknowledging a message twice is not an error. Exits with status 4 if
another node has claimed the message.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> 2 1042',
    '<%= config.bin %> <%= command.id %> 2 1042 --node node-7f3a',
  ]
  static override args = {
    agent: Args.string({
      description: 'Number of the receiving agent, such as 2.',
      required: true,
      parse: asAgent('AGENT'),
    }),
    message: Args.custom<number>({parse: asMessage('MESSAGE')})({
      description: 'Message id.',
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
