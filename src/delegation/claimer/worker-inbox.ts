import {setTimeout as sleep} from 'node:timers/promises'
import {isErrorOf} from '../../errors/index.js'
import {
  jittered,
  type MeshClient,
  type RemoteResult,
  readRemoteAck,
  readRemoteHeartbeat,
  readResult,
  remoteTypes,
  type StoredMessage,
} from '../../mesh/index.js'
import type {OrchestratorConfig} from '../../workspace/index.js'
import {claimerLog, redacted} from './claimer-log.js'

/** A message that shows that the worker is alive. */
export interface Liveness {
  idempotency_key: string
  exec_lease_id?: string
  worker_node_id?: string
  output?: string
}

interface InboxOptions {
  client: MeshClient
  /** Agent that receives the messages of the workers. */
  receiver: string
  config: () => OrchestratorConfig
  signal: AbortSignal
  /** Stores a result and acknowledges its message. */
  onResult(message: StoredMessage, result: RemoteResult): Promise<void>
  onLiveness(liveness: Liveness): Promise<void>
}

/** Maximum number of pages of results per poll. */
const maxPages = 32
/** Maximum duration of a long poll, ms. */
const longPollMs = 25_000
/** How often a message that cannot be read is left in the inbox before it is acknowledged. */
const maxSightings = 3

/** The messages of the workers. */
export class WorkerInbox {
  readonly #options: InboxOptions
  readonly #sightings = new Map<number, number>()

  constructor(options: InboxOptions) {
    this.#options = options
  }

  /** Reads the inbox until the signal aborts. */
  async poll(): Promise<void> {
    const {client, config, signal} = this.#options
    while (!signal.aborted)
      try {
        const isIdle = (await this.read(longPollMs)) === 0
        // A control plane that cannot wait responds at once.
        if (isIdle) await sleep(jittered(config().meshRemoteResultPollIntervalSecs * 100), undefined, {signal})
      } catch (error) {
        if (signal.aborted) return
        claimerLog().debug({err: redacted(client, error)}, 'cannot read the results of delegated tasks')
        const pauseMs = jittered(config().meshRemoteResultPollIntervalSecs * 1000)
        await sleep(pauseMs, undefined, {signal}).catch(() => undefined)
      }
  }

  /** Reads the inbox once, newest first. @returns the number of messages */
  async read(waitMs: number): Promise<number> {
    const {client, receiver, config, signal} = this.#options
    const size = config().meshRemoteResultMaxMessagesPerPoll
    let count = 0
    let before: number | undefined
    for (let page = 0; page < maxPages; page++) {
      const messages = await client.inbox(
        {
          receiver,
          maxMessages: size,
          messageTypes: [remoteTypes.result, remoteTypes.ack, remoteTypes.heartbeat],
          ...(before === undefined ? {waitMs} : {beforeMessageId: before}),
        },
        {signal},
      )
      count += messages.length
      // A result decides before older heartbeats of the same task are looked at.
      await Promise.all(messages.map((message) => this.#readMessage(message)))
      before = messages.at(-1)?.id
      if (messages.length < size) break
    }
    return count
  }

  async ack({id, receiver_agent_id: receiver}: StoredMessage): Promise<void> {
    const {client, signal} = this.#options
    await client.ack({receiver, message: id}, {signal})
  }

  async #readMessage(message: StoredMessage): Promise<void> {
    const {onResult, onLiveness} = this.#options
    try {
      const body: unknown = JSON.parse(message.payload)
      if (message.message_type === remoteTypes.result) await onResult(message, readResult(body))
      else {
        await onLiveness(message.message_type === remoteTypes.ack ? readRemoteAck(body) : readRemoteHeartbeat(body))
        await this.ack(message)
      }
    } catch (error) {
      if (!(error instanceof SyntaxError || isErrorOf(error, 'missing_field') || isErrorOf(error, 'invalid_json')))
        throw error
      const seen = (this.#sightings.get(message.id) ?? 0) + 1
      this.#sightings.set(message.id, seen)
      if (seen < maxSightings) return
      this.#sightings.delete(message.id)
      claimerLog().warn({message_id: message.id, type: message.message_type}, 'a message of a worker cannot be read')
      await this.ack(message)
    }
  }
}
