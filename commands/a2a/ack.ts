import {OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import type {Acknowledged} from '../../src/messages/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'

const ack = commandCall(operationNamed('a2a_ack'))

export default class A2aAck extends OperationCommand<typeof A2aAck> {
  static override summary = ack.operation.summary
  static override description =
    `The message is named by its uuid, or by its id in the inbox. With --error, whoever claimed it says that it could not be
handled: it rests until the claim would have ended, and is delivered again, to whomever.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> reviewer 12',
    '<%= config.bin %> <%= command.id %> reviewer 12 --as worker-1 --error "the disk is full"',
  ]
  static override args = operationArgs(ack)
  static override flags = operationFlags(ack)

  async run(): Promise<void> {
    const result = await this.perform<Acknowledged>(ack)
    await this.output.result(result, describe)
  }
}

function describe({message_id: id, acknowledged, dead_lettered: isDead}: Acknowledged): string {
  if (acknowledged) return `message ${id} is acknowledged`
  return isDead ? `message ${id} is a dead letter` : `message ${id} stays as it is`
}
