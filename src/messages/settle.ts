import {SvcError} from '../errors/index.js'
import {isRunning} from '../process/index.js'
import {appendEvent} from '../tasks/index.js'
import type {MessageContext} from './context.js'
import {buryMessage} from './dead-letters.js'
import {claimTimes, isFree, maxDeliveries} from './delivery.js'
import type {MessageReference} from './message.js'
import {type MessageRow, requireMessage} from './message-rows.js'

/** The result of settling a durable message. */
export interface Settled {
  row: MessageRow
  /** False if it was already acknowledged, unless by this consumer. */
  acknowledged: boolean
}

/**
 * Acknowledges a message of the agent's inbox, so that it is not delivered again. Any owner may do so while no other owner
 * holds a claim on it. A consumer that acknowledges it again, because the first reply was lost, gets the same reply.
 * The claim of a process without a name of its own ends with the process, since no other can acknowledge in its name.
 * @param owner consumer that acknowledges it
 * @param force acknowledges it although another owner holds it, which is an event
 * @throws message_not_found, message_claim_lost
 */
export function acknowledgeMessage(
  context: MessageContext,
  agent: number,
  reference: MessageReference,
  {owner, force = false}: {owner: string; force?: boolean | undefined},
): Settled {
  const {store, now} = context
  return store.transaction(() => {
    const row = requireMessage(context, agent, reference)
    if (row.acknowledged_at_ms !== null) return {row, acknowledged: row.acknowledged_by === owner}
    const holder = holderOf(context, row)
    if (holder !== undefined && holder !== owner && !isEnded(holder)) {
      if (!force) throw new SvcError('message_claim_lost', {message: row.message_uuid, owner, holder, canForce: true})
      appendEvent(context, {type: 'message_claim_overridden', message_id: row.id, agent_id: agent, owner: holder})
    }
    store.run(
      `UPDATE a2a_messages SET acknowledged_at_ms = @now, acknowledged_by = @owner, claim_owner = NULL, claim_until_ms = NULL
WHERE id = @id`,
      {now: now(), owner, id: row.id},
    )
    return {row, acknowledged: true}
  })
}

/** The owner of a claim on a message that is not free to be claimed. */
const holderOf = ({store, now}: MessageContext, {id}: MessageRow): string | undefined =>
  store.get<{claim_owner: string | null}>(`SELECT claim_owner FROM a2a_messages WHERE id = @id AND NOT ${isFree}`, {
    id,
    ...claimTimes(now()),
  })?.claim_owner ?? undefined

/** True if a consumer is a process, as `consumerOf` names it, that no longer runs. */
function isEnded(consumer: string): boolean {
  const [, pid] = /^pid:([1-9]\d{0,8})$/.exec(consumer) ?? []
  return pid !== undefined && !isRunning(Number(pid))
}

/** Maximum number of characters of an error that are stored. */
const maxErrorLength = 4096

/**
 * Reports that a claimed message could not be handled. It is redelivered to any consumer when the claim would have
 * expired; after the last delivery it becomes a dead letter immediately. A repetition of the report has the same reply.
 * @throws message_not_found; message_claim_lost if the owner does not hold it
 */
export function failMessage(
  context: MessageContext,
  agent: number,
  reference: MessageReference,
  {owner, error}: {owner: string; error: string},
): MessageRow {
  const {store} = context
  return store.transaction(() => {
    const row = requireMessage(context, agent, reference)
    const holder = holderOf(context, row)
    const kept = error.slice(0, maxErrorLength)
    // The first reply was lost, and no consumer has claimed the message since.
    const isOpen = holder === undefined && row.claim_owner === null && row.acknowledged_at_ms === null
    if (isOpen && row.last_claim_error === kept) return row
    if (holder !== owner)
      throw new SvcError('message_claim_lost', {message: row.message_uuid, owner, holder, canForce: false})
    store.run('UPDATE a2a_messages SET last_claim_error = ?, claim_owner = NULL WHERE id = ?', [kept, row.id])
    return row.delivery_attempts >= maxDeliveries
      ? buryMessage(context, row.id)
      : requireMessage(context, agent, reference)
  })
}
