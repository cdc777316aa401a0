import {OperationCommand, operationArgs, operationFlags} from '../../src/cli/index.js'
import type {Acknowledged} from '../../src/messages/index.js'
import {commandCall, operationNamed} from '../../src/operations/index.js'

const ack = commandCall(operationNamed('a2a_ack'))

export default class A2aAck extends OperationCommand<typeof A2aAck> {
  static override summary = ack.operation.summary
  static override description =
    `--error rejects a claimed message. When the claim expires, the message is redelivered to any consumer.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> reviewer 12',
    '<%= config.bin %> <%= command.id %> reviewer 12 --as worker-1 --error "the disk is full"',
  ]
  static override args = operationArgs(ack)
  static override flags = operationFlags(ack)

  async run(): Promise<void> {
    const result = await this.perform<Acknowledged>(ack)
    const {error} = this.flags as {error?: string}
    await this.output.result(result, () => describe(result, error !== undefined))
  }
}

function describe({message_id: id, acknowledged, dead_lettered: isDead}: Acknowledged, isRejected: boolean): string {
  if (acknowledged) return `message ${id} is acknowledged`
  if (isDead) return `message ${id} is a dead letter`
  return `message ${id} ${isRejected ? 'will be redelivered' : 'was already acknowledged'}`
}
