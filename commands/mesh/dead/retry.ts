import {controlUrlFlag, DeadMessagesCommand, deadMessagesArg} from '../../../src/cli/index.js'

export default class MeshDeadRetry extends DeadMessagesCommand<typeof MeshDeadRetry> {
  static override summary = 'Retry dead letters.'
  static override description =
    `Returns the messages to their inboxes and resets their delivery attempts. A message that is already in its inbox is not
changed. If an inbox has no room for all its messages, none is returned. Exits with status 3 if a message was not found;
the other messages are returned. The audit log records who retried them. Requires a token of the role admin or mesh.`
  static override examples = ['<%= config.bin %> <%= command.id %> 1042 1043']
  static override args = deadMessagesArg
  static override flags = {...controlUrlFlag}

  run(): Promise<void> {
    return this.settle('in its inbox', (client, messages, options) => client.retryDead(messages, options))
  }
}
