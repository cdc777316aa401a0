import {Args, Flags} from '@oclif/core'
import {asAgent, controlUrlFlag, MeshCommand, readTextInput} from '../../src/cli/index.js'
import {meshNodeSettings} from '../../src/config/index.js'
import {SvcError} from '../../src/errors/index.js'

export default class MeshDeliver extends MeshCommand<typeof MeshDeliver> {
  static override summary = 'Send a message to an agent in the mesh.'
  static override description =
    `Prints the message id once the message is durable: it then survives a crash of the control plane. A message with the
same --key is stored only once, so sending it again is safe. Without --key the message is sent once; if no response
arrives, it may or may not have been stored. Requires a token of the role submitter, admin or mesh.

Inside a workspace, svc a2a send --route mesh sends as an agent of the workspace and retries until the message is
stored.`
  static override examples = [
    `<%= config.bin %> <%= command.id %> --from 1 --to 2 --type free_form '{"say": "hello"}'`,
    'cat task.json | <%= config.bin %> <%= command.id %> --from 1 --to 2 --type remote_task_envelope --key task-42 -',
  ]
  static override args = {
    payload: Args.string({
      description: 'Content of the message, JSON by convention; - reads standard input.',
      required: true,
    }),
  }
  static override flags = {
    ...controlUrlFlag,
    from: Flags.string({
      description: 'Number of the sending agent.',
      required: true,
      helpValue: 'AGENT',
      parse: asAgent('--from'),
    }),
    to: Flags.string({
      description: 'Number of the receiving agent.',
      required: true,
      helpValue: 'AGENT',
      parse: asAgent('--to'),
    }),
    type: Flags.string({description: 'Message type, such as free_form.', required: true, helpValue: 'TYPE'}),
    key: Flags.string({
      description: 'Idempotency key: messages with the same key are stored only once.',
      helpValue: 'KEY',
    }),
    priority: Flags.integer({
      description: 'Priority; 255 is the most urgent.',
      default: 128,
      min: 0,
      max: 255,
      helpValue: 'N',
    }),
    privacy: Flags.string({
      description:
        'Class of nodes that may claim the message: public, private, trusted or trusted_only. (default: all)',
      helpValue: 'CLASS',
    }),
  }

  async run(): Promise<void> {
    const {from, to, type, key, priority, privacy} = this.flags
    const payload = this.args.payload === '-' ? await readTextInput(this.signal) : this.args.payload
    if (payload.trim() === '') throw new SvcError('usage', {reason: 'The message is empty.'})
    const {knownNodeId} = await import('../../src/mesh/index.js')
    const node = await knownNodeId(this.settingSources(meshNodeSettings))
    const client = await this.client(node)
    const delivered = await client.deliver(
      {
        senderAgentId: from,
        receiverAgentId: to,
        messageType: type,
        payload,
        idempotencyKey: key,
        priority,
        privacyClass: privacy,
      },
      {signal: this.signal},
    )
    await this.output.result(delivered, ({message_id: id}) => String(id))
    if (delivered.duplicate) this.output.notice('Duplicate message; not stored again.')
  }
}
