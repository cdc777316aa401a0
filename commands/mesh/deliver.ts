import {Args, Flags} from '@oclif/core'
import {asAgent, controlUrlFlag, MeshCommand, readTextInput} from '../../src/cli/index.js'
import {meshNodeSettings} from '../../src/config/index.js'
import {SvcError} from '../../src/errors/index.js'

export default class MeshDeliver extends MeshCommand<typeof MeshDeliver> {
  static override summary = 'Deliver a message to an agent in the mesh.'
  static override description =
    `Prints the number of the message; from then on it is not lost, whatever becomes of the control plane. Under a key a message
is stored once: sent again it is the same one, and the command says so. Without a key it is sent once, and where no answer
comes nobody knows whether it arrived. Takes the token of a submitter, or of the role mesh.`
  static override examples = [
    `<%= config.bin %> <%= command.id %> --from 1 --to 2 --type free_form '{"say": "hello"}'`,
    'cat task.json | <%= config.bin %> <%= command.id %> --from 1 --to 2 --type remote_task_envelope --key task-42 -',
  ]
  static override args = {
    payload: Args.string({
      description: 'What it says, JSON or any text; - reads it from standard input.',
      required: true,
    }),
  }
  static override flags = {
    ...controlUrlFlag,
    from: Flags.string({
      description: 'The agent that sends it, by its number.',
      required: true,
      helpValue: 'AGENT',
      parse: asAgent('--from'),
    }),
    to: Flags.string({
      description: 'The agent that it is for, by its number.',
      required: true,
      helpValue: 'AGENT',
      parse: asAgent('--to'),
    }),
    type: Flags.string({description: 'Its type, such as free_form.', required: true, helpValue: 'TYPE'}),
    key: Flags.string({description: 'Idempotency key, under which it is stored once.', helpValue: 'KEY'}),
    priority: Flags.integer({description: '255 is the most urgent.', default: 128, min: 0, max: 255, helpValue: 'N'}),
    privacy: Flags.string({
      description: 'Who may claim it: public, private, trusted, trusted_only; every node where it is left out.',
      helpValue: 'CLASS',
    }),
  }

  async run(): Promise<void> {
    const {from, to, type, key, priority, privacy} = this.flags
    const payload = this.args.payload === '-' ? await readTextInput(this.signal) : this.args.payload
    if (payload.trim() === '') throw new SvcError('usage', {reason: 'A message has to say something.'})
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
    if (delivered.duplicate) this.output.notice('It was there already, and was not stored again.')
  }
}
