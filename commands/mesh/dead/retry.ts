import {controlUrlFlag, DeadMessagesCommand, deadMessagesArg} from '../../../src/cli/index.js'

export default class MeshDeadRetry extends DeadMessagesCommand<typeof MeshDeadRetry> {
  static override summary = 'Put dead messages back into their inboxes.'
  static override description =
    `A message has all its attempts before it again. It is delivered once, however often it is retried: one that is in its inbox
stays as it is. The inboxes take all of the messages or none, and the audit names who retried them. Ends with 3 where a
message was not found. Takes the token of an administrator, or of the role mesh.`
  static override examples = ['<%= config.bin %> <%= command.id %> 1042 1043']
  static override args = deadMessagesArg
  static override flags = {...controlUrlFlag}

  run(): Promise<void> {
    return this.settle('in its inbox', (client, messages, options) => client.retryDead(messages, options))
  }
}
