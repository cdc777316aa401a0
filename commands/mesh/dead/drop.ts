import {controlUrlFlag, DeadMessagesCommand, deadMessagesArg} from '../../../src/cli/index.js'

export default class MeshDeadDrop extends DeadMessagesCommand<typeof MeshDeadDrop> {
  static override summary = 'Delete dead letters.'
  static override description =
    `Deletes the contents of the messages; the audit log records who dropped them. For one day, a message with the same
idempotency key is still treated as a duplicate. Exits with status 3 if a message is not a dead letter. Requires a token
of the role admin or mesh.`
  static override examples = ['<%= config.bin %> <%= command.id %> 1042 1043']
  static override args = deadMessagesArg
  static override flags = {...controlUrlFlag}

  run(): Promise<void> {
    return this.settle('dropped', (client, messages, options) => client.dropDead(messages, options))
  }
}
