import {setTimeout as sleep} from 'node:timers/promises'
import {Args, Flags} from '@oclif/core'
import {asAgent, controlUrlFlag, formatMeshMessages, MeshCommand, nodeFlag} from '../../src/cli/index.js'
import type {InboxRequest, MeshClient, StoredMessage} from '../../src/mesh/index.js'

/** Longest that one request may wait for a message, ms. */
const longestWaitMs = 30_000
/** Shortest that is waited between two requests where the control plane does not wait itself, ms. */
const pauseMs = 1000

export default class MeshInbox extends MeshCommand<typeof MeshInbox> {
  static override summary = 'Read the inbox of an agent in the mesh, or claim its next message.'
  static override description =
    `Lists messages that are not acknowledged, the newest first, and takes none. With --claim this node takes the next one: the
most urgent, then the oldest, that its visibility allows. It is this node's until the claim ends, two minutes unless the
control plane says otherwise, and given to another one then; asked again meanwhile, it is the same one. svc mesh ack ends it.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> 2',
    '<%= config.bin %> <%= command.id %> 2 --claim --wait 60 --json | jq -r .messages[].payload',
    '<%= config.bin %> <%= command.id %> 2 --max 256 --before 1042 --type remote_task_result',
  ]
  static override args = {
    agent: Args.string({description: 'The agent, by its number.', required: true, parse: asAgent('AGENT')}),
  }
  static override flags = {
    ...controlUrlFlag,
    claim: Flags.boolean({description: 'Take the next message.', exclusive: ['max', 'before']}),
    ...nodeFlag,
    max: Flags.integer({description: 'At most so many messages.', min: 1, max: 256, helpValue: 'N'}),
    before: Flags.integer({
      description: 'Only messages older than this one.',
      min: 1,
      helpValue: 'MESSAGE',
      // What is older has come already.
      exclusive: ['wait'],
    }),
    type: Flags.string({
      description: 'Only messages of this type; may be given several times.',
      multiple: true,
      helpValue: 'TYPE',
    }),
    wait: Flags.integer({
      description: 'Wait so long for a message where there is none.',
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
    await this.output.result({messages}, () => formatMeshMessages(messages))
  }

  /** The first messages that come, or none once the time is over. */
  async #read(client: MeshClient, request: InboxRequest): Promise<StoredMessage[]> {
    const latest = performance.now() + this.flags.wait * 1000
    for (;;) {
      const left = Math.max(0, Math.round(latest - performance.now()))
      const waitMs = left === 0 ? undefined : Math.min(left, longestWaitMs)
      const askedAt = performance.now()
      const messages = await client.inbox({...request, waitMs}, {signal: this.signal})
      if (messages.length > 0 || waitMs === undefined) return messages
      const tooEarlyMs = waitMs - (performance.now() - askedAt)
      if (tooEarlyMs > 0) await sleep(Math.min(pauseMs, tooEarlyMs), undefined, {signal: this.signal})
    }
  }
}
