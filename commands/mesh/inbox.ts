import {setTimeout as sleep} from 'node:timers/promises'
import {Args, Flags} from '@oclif/core'
import {asAgent, controlUrlFlag, formatMeshMessages, MeshCommand, nodeFlag, tableFlags} from '../../src/cli/index.js'
import type {InboxRequest, MeshClient, StoredMessage} from '../../src/mesh/index.js'

/** Maximum time that one request waits for a message, ms. */
const maxWaitMs = 30_000
/** Minimum pause between requests if the control plane does not support waiting, ms. */
const pauseMs = 1000

export default class MeshInbox extends MeshCommand<typeof MeshInbox> {
  static override summary = 'Read the mesh inbox of an agent, or claim a message.'
  static override description =
    `Lists unacknowledged messages, newest first, without claiming them. --claim claims the oldest message of the highest
priority that this node may claim. The claim lasts two minutes, unless the control plane is configured otherwise. Until
the claim expires, the command returns the same message again; then another node can claim the message. Acknowledge the
message with svc mesh ack.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> 2',
    '<%= config.bin %> <%= command.id %> 2 --claim --wait 60 --json | jq -r ".messages[].payload"',
    '<%= config.bin %> <%= command.id %> 2 --max 256 --before 1042 --type remote_task_result',
  ]
  static override args = {
    agent: Args.string({description: 'Number of the agent.', required: true, parse: asAgent('AGENT')}),
  }
  static override flags = {
    ...tableFlags,
    ...controlUrlFlag,
    claim: Flags.boolean({
      description: 'Claim the next message instead of listing messages.',
      exclusive: ['max', 'before'],
    }),
    ...nodeFlag,
    max: Flags.integer({description: 'Maximum number of messages. (default: 64)', min: 1, max: 256, helpValue: 'N'}),
    before: Flags.integer({
      description: 'Only messages with a smaller id, to get the next page.',
      min: 1,
      helpValue: 'MESSAGE',
      // No new messages can arrive before an existing one.
      exclusive: ['wait'],
    }),
    type: Flags.string({
      description: 'Only messages of this type; may be repeated.',
      multiple: true,
      helpValue: 'TYPE',
    }),
    wait: Flags.integer({
      description: 'Time to wait for a message if there is none.',
      default: 0,
      min: 0,
      max: 86_400,
      helpValue: 'SECONDS',
    }),
  }

  async run(): Promise<void> {
    const {claim, max, before, type} = this.flags
    const claimer = claim ? await this.node() : undefined
    const client = await this.client(claimer)
    const messages = await this.#read(client, {
      receiver: this.args.agent,
      claimer,
      maxMessages: max,
      beforeMessageId: before,
      messageTypes: type,
    })
    await this.output.result({messages}, () => formatMeshMessages(messages, this.view))
  }

  /** Returns the first messages, or none after the timeout. */
  async #read(client: MeshClient, request: InboxRequest): Promise<StoredMessage[]> {
    const latest = performance.now() + this.flags.wait * 1000
    for (;;) {
      const left = Math.max(0, Math.round(latest - performance.now()))
      const waitMs = left === 0 ? undefined : Math.min(left, maxWaitMs)
      const askedAt = performance.now()
      const messages = await client.inbox({...request, waitMs}, {signal: this.signal})
      if (messages.length > 0 || waitMs === undefined) return messages
      const tooEarlyMs = waitMs - (performance.now() - askedAt)
      if (tooEarlyMs > 0) await sleep(Math.min(pauseMs, tooEarlyMs), undefined, {signal: this.signal})
    }
  }
}
