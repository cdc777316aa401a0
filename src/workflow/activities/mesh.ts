import {holdLease, inboxPages, MeshHttpError, type StoredMessage, takeSnapshot} from '../../mesh/index.js'
import type {MeshArgs} from '../definition/definition.js'
import type {ActivityKey} from '../store/activities.js'
import type {StepEvent} from '../store/journal.js'
import type {ActivityOutcome, Call, Executor, MeshAccess} from './executor.js'

/**
 * Calls the control plane while holding a lease for the activity, so that two runners of a run never call it at the same
 * time. Without a control plane, a snapshot counts the nodes of the local registry, and other calls are skipped.
 */
export const meshExecutor: Executor<'mesh'> = {
  type: 'work',
  async run(call, signal) {
    const {ports, key, args} = call
    if (ports.mesh === undefined) return withoutControlPlane(call)
    const access = await ports.mesh()
    const {client, claimer} = access
    try {
      await client.join(claimer, {signal})
      const lease = await holdLease(client, {
        claimer: claimer.id,
        scopeKey: messageKey(key),
        signal,
      })
      try {
        const bound = AbortSignal.any([signal, lease.ended])
        return await operations[args.operation](call, access, bound)
      } finally {
        await lease.release()
      }
    } finally {
      await client.close()
    }
  },
  async withdraw(call, reason, signal) {
    const {ports, args} = call
    if (ports.mesh === undefined || args.operation !== 'dispatch') return undefined
    const access = await ports.mesh()
    try {
      await access.client.join(access.claimer, {signal})
      return await withdrawMessage(call, access, reason, signal)
    } finally {
      await access.client.close()
    }
  },
}

/**
 * Acknowledges the message of a dispatch for its receiver, if no node has claimed it. Otherwise the receiver gets a message
 * that asks it to stop; the control plane stores both only once.
 */
async function withdrawMessage(
  {args: {receiver = ''}, key}: Call<'mesh'>,
  {client, claimer, agent}: MeshAccess,
  reason: string,
  signal: AbortSignal,
): Promise<StepEvent | undefined> {
  const idempotencyKey = messageKey(key)
  const message = await openMessage(client, {receiver, sender: agent, idempotencyKey}, signal)
  if (message === undefined) return undefined
  const event = {event: 'MeshActivity', mesh_op: 'withdraw'} as const
  try {
    if (message.lease_holder_node_id === undefined) {
      await client.ack({receiver, message: message.id, claimer: claimer.id}, {signal})
      return {...event, control: 'withdraw_ok'}
    }
  } catch (error) {
    if (!(error instanceof MeshHttpError && error.isStatus(409))) throw error
  }
  await client.deliver(
    {
      senderAgentId: agent,
      receiverAgentId: receiver,
      messageType: 'cancel_request',
      payload: JSON.stringify({message_id: message.id, idempotency_key: idempotencyKey, reason}),
      priority: 255,
      idempotencyKey: `${idempotencyKey}:cancel`,
    },
    {signal},
  )
  return {...event, control: 'cancel_requested'}
}

/** The message of a dispatch, unless it was acknowledged or never arrived. */
async function openMessage(
  client: MeshAccess['client'],
  {receiver, sender, idempotencyKey}: {receiver: string; sender: string; idempotencyKey: string},
  signal: AbortSignal,
): Promise<StoredMessage | undefined> {
  for await (const page of inboxPages(client, {receiver, pageSize: 256}, {signal})) {
    const found = page.find(
      ({sender_agent_id: from, idempotency_key: key}) => from === sender && key === idempotencyKey,
    )
    if (found !== undefined) return found
  }
  return undefined
}

const messageKey = ({runId, activityId}: ActivityKey): string => `workflow:${runId}:${activityId}`

async function withoutControlPlane({ports, args}: Call<'mesh'>): Promise<ActivityOutcome> {
  if (args.operation !== 'snapshot')
    return {result: null, event: {event: 'MeshActivitySkipped', reason: 'no control plane is configured'}}
  const count = await ports.countLocalNodes()
  return {
    result: {node_count: count},
    event: {event: 'MeshActivity', mesh_op: 'snapshot', control: 'local_registry_only', node_count: count},
  }
}

type Operation = (call: Call<'mesh'>, access: MeshAccess, signal: AbortSignal) => Promise<ActivityOutcome>

const operations: Readonly<Record<MeshArgs['operation'], Operation>> = {
  noop: async () => ({result: null, event: {event: 'MeshActivity', mesh_op: 'noop', control: 'noop'}}),
  async join(_, {client, node}, signal) {
    const {id} = await client.join(node, {signal})
    return {result: {node_id: id}, event: {event: 'MeshActivity', mesh_op: 'join', control: 'join_ok', node_id: id}}
  },
  async heartbeat(_, {client, node}, signal) {
    const {id} = await client.heartbeat({id: node.id, ...(node.scope_id && {scope_id: node.scope_id})}, {signal})
    return {
      result: {node_id: id},
      event: {event: 'MeshActivity', mesh_op: 'heartbeat', control: 'heartbeat_ok', node_id: id},
    }
  },
  async snapshot({context}, {client}, signal) {
    const snapshot = await takeSnapshot(client, {maxStaleMs: 0, now: context.now, signal})
    if (!snapshot.ok) throw new Error(snapshot.error)
    const {node_count, schema_version, nodes} = snapshot
    return {
      result: {node_count, nodes},
      event: {event: 'MeshActivity', mesh_op: 'snapshot', control: 'snapshot_ok', node_count, schema_version},
    }
  },
  async dispatch({args, key}, {client, agent}, signal) {
    const {receiver = '', type = 'free_form', payload} = args
    const {message_id} = await client.deliver(
      {
        senderAgentId: agent,
        receiverAgentId: receiver,
        messageType: type,
        payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
        idempotencyKey: messageKey(key),
      },
      {signal},
    )
    return {result: {message_id}, event: {event: 'MeshActivity', mesh_op: 'dispatch', control: 'dispatch_ok'}}
  },
  async wait({args}, {client, claimer}, signal) {
    const {receiver = '', type} = args
    for (;;) {
      signal.throwIfAborted()
      const [message] = await client.inbox(
        {
          receiver,
          claimer: claimer.id,
          maxMessages: 1,
          waitMs: pollMs,
          ...(type === undefined ? {} : {messageTypes: [type]}),
        },
        {signal},
      )
      if (message === undefined) continue
      await client.ack({receiver, message: message.id, claimer: claimer.id}, {signal})
      return {result: messageOf(message), event: {event: 'MeshActivity', mesh_op: 'wait', control: 'wait_ok'}}
    }
  },
}

/** Time that the control plane waits for a message before it answers, ms. */
const pollMs = 5000

const messageOf = ({id, sender_agent_id: sender, message_type: type, payload}: StoredMessage) => ({
  message_id: id,
  sender,
  type,
  payload,
})
