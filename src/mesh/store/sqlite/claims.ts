import type {Database} from 'better-sqlite3'
import {SvcError} from '../../../errors/index.js'
import type {StoredMessage} from '../../protocol/message.js'
import type {ClaimQuery, Scope} from '../mesh-store.js'
import type {Audit} from './audit.js'
import type {Backlog, Counted} from './backlog.js'
import type {Turn} from './group-commit.js'
import {isOneOf, listed, type MessageRow, toMessage} from './message-rows.js'
import {inMaintenance} from './node-record.js'
import type {Nodes} from './nodes.js'

export interface Claims {
  claim(turn: Turn, scope: Scope, query: ClaimQuery): StoredMessage | undefined
  renew(turn: Turn, scope: Scope, claim: {receiver: string; message: number; claimer: string}): void
  ack(turn: Turn, scope: Scope, ack: {receiver: string; message: number; claimer?: string | undefined}): void
  /** Gives back all that a node has claimed. */
  giveBackOf(turn: Turn, scope: Scope, holder: string): void
  /** Gives back what has run out, a bounded part at once. */
  sweep(turn: Turn): void
  /** Whether nothing has run out that was not given back yet. */
  isSwept(now: number): boolean
}

/** What decides whether a message may be renewed or acknowledged. */
type ClaimState = Counted & Pick<MessageRow, 'id' | 'holder' | 'lease_expires' | 'acked_at' | 'dead_at'>

/**
 * A node that asks again for what it has holds it anew; it counts as another try when the last one began more than this
 * part of a lease ago: else one message that always ends its node would never be given up.
 */
const sameTry = 0.25
/** A message that so many claims came to nothing of is given up. */
const mostAttempts = 16
/** Claims that are given back in one transaction, and messages that one claim gives up. */
const mostSwept = 1000
const mostGivenUp = 100

/** Who may have a message, by its privacy and the visibility and trust of the node. A class of no name here is for all. */
const isAllowed = `(privacy_class IS NULL OR CASE privacy_class
  WHEN 'public' THEN @visibility <> 'private'
  WHEN 'private' THEN @visibility <> 'public'
  WHEN 'trusted' THEN @visibility <> 'public'
  WHEN 'trusted_only' THEN @visibility <> 'public' AND @trust <> 'new'
  ELSE 1 END)`

const isWanted = `(@exclude IS NULL OR id NOT IN (SELECT value FROM json_each(@exclude))) AND ${isOneOf('type', '@types')}`

export function createClaims(
  database: Database,
  {nodes, audit, backlog, leaseMs}: {nodes: Nodes; audit: Audit; backlog: Backlog; leaseMs: number},
): Claims {
  const ownFirst = database.prepare<object, MessageRow>(
    `SELECT * FROM mesh_messages WHERE scope_id = @scope AND holder = @claimer AND lease_expires > @now AND receiver = @receiver
  AND ${isWanted} ORDER BY priority DESC, id LIMIT 1`,
  )
  const waitingFirst = database.prepare<object, MessageRow>(
    `SELECT * FROM mesh_messages WHERE scope_id = @scope AND receiver = @receiver AND acked_at IS NULL AND dead_at IS NULL
  AND holder IS NULL AND ${isAllowed} AND ${isWanted} ORDER BY priority DESC, id LIMIT 1`,
  )
  const hold = database.prepare<[string, number, number, number | null, number]>(
    'UPDATE mesh_messages SET holder = ?, lease_expires = ?, attempts = ?, tried_at = ? WHERE id = ?',
  )
  const giveUp = database.prepare<[number, number]>(
    'UPDATE mesh_messages SET dead_at = ?, holder = NULL, lease_expires = NULL WHERE id = ?',
  )
  const find = database.prepare<[number, string, string], ClaimState>(
    `SELECT id, scope_id, receiver, task_kind, priority, holder, lease_expires, acked_at, dead_at FROM mesh_messages WHERE id = ? AND scope_id = ? AND receiver = ?`,
  )
  const extend = database.prepare<[number, number]>('UPDATE mesh_messages SET lease_expires = ? WHERE id = ?')
  // What it said is not kept: the digest tells whether it is sent again.
  const acknowledge = database.prepare<[number, number]>(
    "UPDATE mesh_messages SET acked_at = ?, holder = NULL, lease_expires = NULL, payload = '', jwe = NULL WHERE id = ?",
  )
  const giveBack = database.prepare<[string, string], Counted>(
    `UPDATE mesh_messages SET holder = NULL, lease_expires = NULL WHERE scope_id = ? AND holder = ?
RETURNING scope_id, receiver, task_kind, priority`,
  )
  const giveBackDue = database.prepare<[number, number], Counted>(
    `UPDATE mesh_messages SET holder = NULL, lease_expires = NULL
WHERE id IN (SELECT id FROM mesh_messages WHERE lease_expires <= ? ORDER BY lease_expires LIMIT ?)
RETURNING scope_id, receiver, task_kind, priority`,
  )
  const firstDue = database
    .prepare<[], number | null>('SELECT min(lease_expires) FROM mesh_messages WHERE lease_expires IS NOT NULL')
    .pluck()

  /** Nothing runs out before this, Unix ms. */
  let quietUntil = firstDue.get() ?? Number.POSITIVE_INFINITY
  const setQuiet = (turn: Turn, until: number) => {
    const before = quietUntil
    quietUntil = until
    turn.undo(() => {
      quietUntil = before
    })
  }

  /** @param isTry whether it counts */
  function take(turn: Turn, row: MessageRow, claimer: string, isTry: boolean): MessageRow {
    const expires = turn.now + leaseMs
    const [attempts, tried] = isTry ? [row.attempts + 1, turn.now] : [row.attempts, row.tried_at]
    hold.run(claimer, expires, attempts, tried, row.id)
    if (expires < quietUntil) setQuiet(turn, expires)
    return {...row, holder: claimer, lease_expires: expires, attempts, tried_at: tried}
  }

  function bury(turn: Turn, row: MessageRow, from: 'waiting' | 'claimed'): void {
    giveUp.run(turn.now, row.id)
    backlog.move(turn, row, from, 'dead')
    audit.write(turn, {
      scope: row.scope_id,
      actor: 'store',
      action: 'message.dead',
      target: String(row.id),
      detail: {receiver_agent_id: row.receiver, message_type: row.type, delivery_attempts: row.attempts},
    })
  }

  function found(scope: Scope, {receiver, message}: {receiver: string; message: number}): ClaimState {
    const row = find.get(message, scope, receiver)
    if (row === undefined) throw new SvcError('message_not_found', {message: String(message)})
    return row
  }

  const isHeldBy = ({holder, lease_expires}: ClaimState, claimer: string, now: number) =>
    holder === claimer && lease_expires !== null && lease_expires > now

  const isSameTry = ({tried_at}: MessageRow, now: number) => tried_at !== null && now - tried_at <= leaseMs * sameTry

  return {
    claim(turn, scope, {receiver, claimer, exclude, types}) {
      const node = nodes.known(scope, claimer)
      if (node.quarantined || inMaintenance(node, turn.now)) return undefined
      const {now} = turn
      const wanted = {scope, receiver, exclude: listed(exclude), types: listed(types)}
      const policy = {visibility: node.told.visibility, trust: node.trust}
      for (let i = 0; i < mostGivenUp; i++) {
        const own = ownFirst.get({...wanted, claimer, now})
        if (own !== undefined && isSameTry(own, now)) return toMessage(take(turn, own, claimer, false), now)
        const row = own ?? waitingFirst.get({...wanted, ...policy})
        if (row === undefined) return undefined
        const from = own === undefined ? 'waiting' : 'claimed'
        if (row.attempts < mostAttempts) {
          backlog.move(turn, row, from, 'claimed')
          return toMessage(take(turn, row, claimer, true), now)
        }
        bury(turn, row, from)
      }
      return undefined
    },

    renew(turn, scope, claim) {
      nodes.tolerated(scope, claim.claimer)
      const row = found(scope, claim)
      if (row.acked_at !== null || row.dead_at !== null)
        throw new SvcError('message_not_found', {message: String(claim.message)})
      if (!isHeldBy(row, claim.claimer, turn.now))
        throw new SvcError('not_lease_holder', {what: `message ${claim.message}`})
      extend.run(turn.now + leaseMs, row.id)
    },

    ack(turn, scope, ack) {
      const row = found(scope, ack)
      if (row.acked_at !== null) return
      const isElsewhere = row.holder !== null && (row.lease_expires ?? 0) > turn.now && row.holder !== ack.claimer
      if (ack.claimer !== undefined && isElsewhere)
        throw new SvcError('not_lease_holder', {what: `message ${ack.message}`})
      acknowledge.run(turn.now, row.id)
      backlog.move(turn, row, row.dead_at !== null ? 'dead' : row.holder === null ? 'waiting' : 'claimed', 'gone')
    },

    giveBackOf(turn, scope, holder) {
      for (const message of giveBack.all(scope, holder)) backlog.move(turn, message, 'claimed', 'waiting')
    },

    sweep(turn) {
      if (turn.now < quietUntil) return
      for (const message of giveBackDue.all(turn.now, mostSwept)) backlog.move(turn, message, 'claimed', 'waiting')
      setQuiet(turn, firstDue.get() ?? Number.POSITIVE_INFINITY)
    },

    isSwept: (now) => now < quietUntil,
  }
}
