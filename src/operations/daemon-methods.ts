import type {Schema} from '../contracts/index.js'
import {flag, integer, list, object, oneOf, taskId, text} from './schema.js'

/**
 * Methods that the daemon answers itself: they are about its process and the connection, not about the workspace, so
 * no other face has them and they have no handler here. The daemon takes names, aliases and input schemas from this
 * list, and the contract of the wire is written from it: what a client is promised is what the daemon does.
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

/** Something that the daemon sends unasked, to a client that has subscribed. */
export interface DaemonNotification {
  /** Its `method` where the subscription was made by JSON-RPC 2.0. */
  readonly method: string
  /** Its `payload.type` where answers are wrapped; the `id` is then that of the request that subscribed. */
  readonly type: string
  readonly summary: string
  /** JSON Schema of an object: `params`, or the members of the payload beside its type. */
  readonly params: Schema
}

/** What a daemon and its clients speak. */
export const daemonProtocol = 'svc.orchestrator_daemon/v1'

const protocol: Schema = {const: daemonProtocol}
const repositoryId = text('Of the workspace that the daemon works for.')
const subscriptionId = text()
const done = object({ok: flag()}, {required: ['ok'], open: true})

/** About the process of the daemon, and the connection to it. */
export const daemonMethods: readonly DaemonMethod[] = [
  {
    method: 'orch.ping',
    aliases: ['ping'],
    summary: 'Tell that the daemon is there, and for which workspace.',
    input: object({}),
    output: object(
      {ok: flag(), repository_id: repositoryId, protocol},
      {required: ['ok', 'repository_id', 'protocol'], open: true},
    ),
  },
  {
    method: 'orch.hello',
    summary: 'Greet the daemon, with its token where it wants one; tells what it speaks.',
    input: object({
      token: text('The secret that the daemon was started with.', {maxLength: 4096}),
      client: text('Who calls, for the log.', {maxLength: 256}),
      protocols: list(text(undefined, {maxLength: 256}), 'What the client speaks.', {maxItems: 100}),
    }),
    output: object(
      {ok: flag(), protocol, server_version: text(), repository_id: repositoryId, methods: list(text())},
      {required: ['ok', 'protocol', 'server_version', 'repository_id', 'methods'], open: true},
    ),
  },
  {
    method: 'orch.methods',
    summary: 'List the methods that the daemon answers.',
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
    summary: 'Send what happens from now on, or from behind an event, until the connection ends.',
    input: object({
      types: list(text(undefined, {maxLength: 256}), 'Only events of these types.', {maxItems: 100}),
      since_id: integer('First those that have happened after the event of this id.', {minimum: 0}),
      task_id: taskId,
    }),
    output: object(
      {subscription_id: subscriptionId, last_id: integer('Events behind this one will be sent.')},
      {required: ['subscription_id', 'last_id'], open: true},
    ),
  },
  {
    method: 'orch.events.unsubscribe',
    summary: 'Send no more events of a subscription.',
    input: object({subscription_id: subscriptionId}, {required: ['subscription_id']}),
    output: done,
  },
  {
    method: 'orch.shutdown',
    summary: 'End the daemon, once the request that it works on is answered.',
    input: object({}),
    output: done,
  },
]

/** What comes of a subscription. Nothing is left out: whoever reads slowly gets it later. */
export const daemonNotifications: readonly DaemonNotification[] = [
  {
    method: 'orch.event',
    type: 'event',
    summary: 'Something has happened.',
    params: object(
      {subscription_id: subscriptionId, event: object({}, {open: true})},
      {required: ['subscription_id', 'event']},
    ),
  },
]
