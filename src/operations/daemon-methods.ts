import {contractSchema, type Schema} from '../contracts/index.js'
import {flag, integer, list, object, oneOf, taskId, text} from './schema.js'

/**
 * A method that concerns the daemon process or the connection, not the workspace. Such methods have no other binding and
 * no handler here. Both the daemon and the published contract use the names, aliases and input schemas of this list, so
 * they cannot differ.
 */
export interface DaemonMethod {
  /** `orch.ping` */
  readonly method: string
  readonly aliases?: readonly string[]
  /** One sentence. */
  readonly summary: string
  /** JSON Schema of an object. */
  readonly input: Schema
  /** JSON Schema of an object. */
  readonly output: Schema
}

/** A notification that the daemon sends to a subscribed client. */
export interface DaemonNotification {
  /** Its `method`, if the client subscribed with JSON-RPC 2.0. */
  readonly method: string
  /** Its `payload.type`, if the client uses envelopes; its `id` is then the id of the subscribe request. */
  readonly type: string
  readonly summary: string
  /** JSON Schema of an object: `params`, or the members of the payload except its type. */
  readonly params: Schema
}

export const daemonProtocol = 'svc.orchestrator_daemon/v1'

const protocol: Schema = {const: daemonProtocol}
const repositoryId = text('Id of the repository that the daemon serves.')
const subscriptionId = text()
const done = object({ok: flag()}, {required: ['ok'], open: true})

const {enum: bulletinTypes} = (
  contractSchema('communication/bulletin-entry.v1') as {properties: {type: {enum: readonly string[]}}}
).properties.type

const subscribed = object(
  {subscription_id: subscriptionId, last_id: integer('Events after this id will be sent.')},
  {required: ['subscription_id', 'last_id'], open: true},
)

export const daemonMethods: readonly DaemonMethod[] = [
  {
    method: 'orch.ping',
    aliases: ['ping'],
    summary: 'Check that the daemon is running, and which workspace it serves.',
    input: object({}),
    output: object(
      {ok: flag(), repository_id: repositoryId, protocol},
      {required: ['ok', 'repository_id', 'protocol'], open: true},
    ),
  },
  {
    method: 'orch.hello',
    summary: 'Authenticate, if the daemon requires a token, and return its protocol and methods.',
    input: object({
      token: text('Token that the daemon was started with.', {maxLength: 4096}),
      client: text('Name of the client, for the log.', {maxLength: 256}),
      protocols: list(text(undefined, {maxLength: 256}), 'Protocols of the client.', {maxItems: 100}),
    }),
    output: object(
      {ok: flag(), protocol, server_version: text(), repository_id: repositoryId, methods: list(text())},
      {required: ['ok', 'protocol', 'server_version', 'repository_id', 'methods'], open: true},
    ),
  },
  {
    method: 'orch.methods',
    summary: 'List the methods of the daemon.',
    input: object({}),
    output: object(
      {
        methods: list(
          object(
            {
              method: text(),
              aliases: list(text()),
              summary: text(),
              effect: oneOf(['read', 'write', 'destructive']),
            },
            {required: ['method', 'summary'], open: true},
          ),
        ),
      },
      {required: ['methods'], open: true},
    ),
  },
  {
    method: 'orch.events.subscribe',
    summary: 'Subscribe to events until the connection closes, from now on or after an event id.',
    input: object({
      types: list(text(undefined, {maxLength: 256}), 'Only events of these types.', {maxItems: 100}),
      since_id: integer('Send past events after this id first.', {minimum: 0}),
      task_id: taskId,
    }),
    output: subscribed,
  },
  {
    method: 'orch.bulletin.subscribe',
    summary: 'Subscribe to new entries of the bulletin board until the connection closes.',
    input: object({types: list(oneOf(bulletinTypes), 'Only entries of these types.', {maxItems: 100})}),
    output: subscribed,
  },
  {
    method: 'orch.events.unsubscribe',
    summary: 'Cancel a subscription.',
    input: object({subscription_id: subscriptionId}, {required: ['subscription_id']}),
    output: done,
  },
  {
    method: 'orch.shutdown',
    summary: 'Stop the daemon after the current request is answered.',
    input: object({}),
    output: done,
  },
]

/**
 * Notifications of a subscription. No event is skipped: a slow client receives them later. A client that is more than
 * `bulletin_capacity` entries of the bulletin board behind loses the oldest ones.
 */
export const daemonNotifications: readonly DaemonNotification[] = [
  {
    method: 'orch.event',
    type: 'event',
    summary: 'An event of a subscription.',
    params: object(
      {subscription_id: subscriptionId, event: object({}, {open: true})},
      {required: ['subscription_id', 'event']},
    ),
  },
  {
    method: 'orch.bulletin',
    type: 'bulletin',
    summary: 'An entry of the bulletin board.',
    params: object(
      {subscription_id: subscriptionId, entry: object({}, {open: true})},
      {required: ['subscription_id', 'entry']},
    ),
  },
]
