import {controlUrlFlag, DeadMessagesCommand, deadMessagesArg} from '../../../src/cli/index.js'

export default class MeshDeadDrop extends DeadMessagesCommand<typeof MeshDeadDrop> {
  static override summary = 'Drop dead messages.'
  static override description =
    `The contents of a dropped message are gone, and the audit names who dropped it. For a day it is not stored again when it is
sent under the same idempotency key. Ends with 3 where a message is not dead. Takes the token of an administrator, or of the
role mesh.`
  static override examples = ['<%= config.bin %> <%= command.id %> 1042 1043']
  static override args = deadMessagesArg
  static override flags = {...controlUrlFlag}

  run(): Promise<void> {
    return this.settle('dropped', (client, messages, options) => client.dropDead(messages, options))
  }
}
