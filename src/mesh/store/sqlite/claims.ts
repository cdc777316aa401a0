import type {Database} from 'better-sqlite3'
import {SvcError} from '../../../errors/index.js'
import type {StoredMessage} from '../../protocol/message.js'
import type {ClaimQuery, Scope} from '../mesh-store.js'
import {entryOf, type MessageRow, maxAttempts, maxDeadPerClaim, sameAttempt, toMessage} from '../message-rows.js'
import {inMaintenance} from '../node-record.js'
import type {Audit} from './audit.js'
import type {Backlog, Counted} from './backlog.js'
import {isOneOf, listed} from './json-lists.js'
import {NextExpiry} from './next-expiry.js'
import type {Nodes} from './nodes.js'
import {isMet, Requirements} from './requirements.js'
import type {Transaction} from './transaction.js'

/** Columns that decide whether a claim can be renewed or acknowledged. */
type ClaimState = Counted & Pick<MessageRow, 'id' | 'holder' | 'lease_expires' | 'acked_at' | 'dead_at'>

/** Maximum number of claims released per transaction. */
const sweepLimit = 1000

/** Policy by privacy class, node visibility and trust. Unknown privacy classes are unrestricted. */
const isAllowed = `(privacy_class IS NULL OR CASE privacy_class
  WHEN 'public' THEN @visibility <> 'private'
  WHEN 'private' THEN @visibility <> 'public'
  WHEN 'trusted' THEN @visibility <> 'public'
  WHEN 'trusted_only' THEN @visibility <> 'public' AND @trust <> 'new'
  ELSE 1 END)`

const isNoneOf = (column: string, parameter: string) =>
  `(${parameter} IS NULL OR ${column} NOT IN (SELECT value FROM json_each(${parameter})))`

const matchesFilter = `${isNoneOf('id', '@exclude')} AND ${isNoneOf('sender', '@excludeSenders')} AND ${isOneOf('type', '@types')}`

const prepare = (database: Database) => ({
  ownFirst: database.prepare<object, MessageRow>(
    `SELECT * FROM mesh_messages WHERE scope_id = @scope AND holder = @claimer AND lease_expires > @now AND receiver = @receiver
  AND ${matchesFilter} ORDER BY priority DESC, id LIMIT 1`,
  ),
  waitingFirst: database.prepare<object, MessageRow>(
    `SELECT * FROM mesh_messages WHERE scope_id = @scope AND receiver = @receiver AND acked_at IS NULL AND dead_at IS NULL
  AND holder IS NULL AND ${isAllowed} AND ${matchesFilter} AND ${isMet} ORDER BY priority DESC, id LIMIT 1`,
  ),
  hold: database.prepare<[string, number, number, number | null, number]>(
    'UPDATE mesh_messages SET holder = ?, lease_expires = ?, attempts = ?, tried_at = ? WHERE id = ?',
  ),
  giveUp: database.prepare<[number, number]>(
    'UPDATE mesh_messages SET dead_at = ?, holder = NULL, lease_expires = NULL WHERE id = ?',
  ),
  find: database.prepare<[number, string, string], ClaimState>(
    `SELECT id, scope_id, receiver, task_kind, priority, holder, lease_expires, acked_at, dead_at FROM mesh_messages WHERE id = ? AND scope_id = ? AND receiver = ?`,
  ),
  extend: database.prepare<[number, number]>('UPDATE mesh_messages SET lease_expires = ? WHERE id = ?'),
  // The payload is deleted; the digest suffices to recognise repeated deliveries.
  acknowledge: database.prepare<[number, number]>(
    "UPDATE mesh_messages SET acked_at = ?, holder = NULL, lease_expires = NULL, payload = '', jwe = NULL WHERE id = ?",
  ),
  release: database.prepare<[string, string], Counted>(
    `UPDATE mesh_messages SET holder = NULL, lease_expires = NULL WHERE scope_id = ? AND holder = ?
RETURNING scope_id, receiver, task_kind, priority`,
  ),
  releaseDue: database.prepare<[number, number], Counted>(
    `UPDATE mesh_messages SET holder = NULL, lease_expires = NULL
WHERE id IN (SELECT id FROM mesh_messages WHERE lease_expires <= ? ORDER BY lease_expires LIMIT ?)
RETURNING scope_id, receiver, task_kind, priority`,
  ),
})

interface ClaimParts {
  nodes: Nodes
  audit: Audit
  backlog: Backlog
  leaseMs: number
}

export class Claims {
  readonly #sql: ReturnType<typeof prepare>
  readonly #parts: ClaimParts
  readonly #nextExpiry: NextExpiry
  readonly #requirements: Requirements

  constructor(database: Database, parts: ClaimParts) {
    this.#requirements = new Requirements(database)
    this.#sql = prepare(database)
    this.#parts = parts
    this.#nextExpiry = new NextExpiry(
      database,
      'SELECT min(lease_expires) FROM mesh_messages WHERE lease_expires IS NOT NULL',
    )
  }

  claim(
    transaction: Transaction,
    scope: Scope,
    {receiver, claimer, exclude, excludeSenders, types}: ClaimQuery,
  ): StoredMessage | undefined {
    const {nodes, backlog} = this.#parts
    const {now} = transaction
    const node = nodes.requireKnown(scope, claimer)
    if (node.quarantined || inMaintenance(node, now)) return undefined
    this.#requirements.of(node)
    const lists = {exclude: listed(exclude), excludeSenders: listed(excludeSenders), types: listed(types)}
    const filter = {scope, receiver, ...lists}
    const policy = {visibility: node.reported.visibility, trust: node.trust}
    for (let i = 0; i < maxDeadPerClaim; i++) {
      const own = this.#sql.ownFirst.get({...filter, claimer, now})
      if (own !== undefined && this.#isSameAttempt(own, now))
        return toMessage(this.#take(transaction, own, claimer, false), now)
      const row = own ?? this.#sql.waitingFirst.get({...filter, ...policy})
      if (row === undefined) return undefined
      const from = own === undefined ? 'waiting' : 'claimed'
      if (row.attempts < maxAttempts) {
        backlog.move(transaction, row, from, 'claimed')
        return toMessage(this.#take(transaction, row, claimer, true), now)
      }
      this.#giveUp(transaction, row, from)
    }
    return undefined
  }

  renew(transaction: Transaction, scope: Scope, claim: {receiver: string; message: number; claimer: string}): void {
    const {nodes, leaseMs} = this.#parts
    nodes.requireNotQuarantined(scope, claim.claimer)
    const row = this.#find(scope, claim)
    if (row.acked_at !== null || row.dead_at !== null)
      throw new SvcError('message_not_found', {message: String(claim.message)})
    if (row.holder !== claim.claimer || !isHeld(row, transaction.now))
      throw new SvcError('not_lease_holder', {what: `the claim on message ${claim.message}`})
    this.#sql.extend.run(transaction.now + leaseMs, row.id)
  }

  ack(
    transaction: Transaction,
    scope: Scope,
    ack: {receiver: string; message: number; claimer?: string | undefined},
  ): void {
    const row = this.#find(scope, ack)
    if (row.acked_at !== null) return
    const isElsewhere = row.holder !== ack.claimer && isHeld(row, transaction.now)
    if (ack.claimer !== undefined && isElsewhere)
      throw new SvcError('not_lease_holder', {what: `the claim on message ${ack.message}`})
    this.#sql.acknowledge.run(transaction.now, row.id)
    const from = row.dead_at !== null ? 'dead' : row.holder === null ? 'waiting' : 'claimed'
    this.#parts.backlog.move(transaction, row, from, 'gone')
  }

  /** Releases all claims of a node. */
  releaseOf(transaction: Transaction, scope: Scope, holder: string): void {
    this.#countReleased(transaction, this.#sql.release.all(scope, holder))
  }

  /** Releases a bounded number of expired claims. */
  sweep(transaction: Transaction): void {
    if (this.isSwept(transaction.now)) return
    this.#countReleased(transaction, this.#sql.releaseDue.all(transaction.now, sweepLimit))
    this.#nextExpiry.reload(transaction)
  }

  /** True if all expired claims are released. */
  isSwept(now: number): boolean {
    return !this.#nextExpiry.isDue(now)
  }

  #countReleased(transaction: Transaction, messages: readonly Counted[]): void {
    for (const message of messages) this.#parts.backlog.move(transaction, message, 'claimed', 'waiting')
  }

  /** @param isAttempt true to count the claim as an attempt */
  #take(transaction: Transaction, row: MessageRow, claimer: string, isAttempt: boolean): MessageRow {
    const {now} = transaction
    const expires = now + this.#parts.leaseMs
    const [attempts, tried] = isAttempt ? [row.attempts + 1, now] : [row.attempts, row.tried_at]
    this.#sql.hold.run(claimer, expires, attempts, tried, row.id)
    this.#nextExpiry.add(transaction, expires)
    return {...row, holder: claimer, lease_expires: expires, attempts, tried_at: tried}
  }

  #giveUp(transaction: Transaction, row: MessageRow, from: 'waiting' | 'claimed'): void {
    const {audit, backlog} = this.#parts
    this.#sql.giveUp.run(transaction.now, row.id)
    backlog.move(transaction, row, from, 'dead')
    audit.write(transaction, {...entryOf(row), actor: 'store', action: 'message.dead'})
  }

  /** @throws message_not_found */
  #find(scope: Scope, {receiver, message}: {receiver: string; message: number}): ClaimState {
    const row = this.#sql.find.get(message, scope, receiver)
    if (row === undefined) throw new SvcError('message_not_found', {message: String(message)})
    return row
  }

  #isSameAttempt({tried_at}: MessageRow, now: number): boolean {
    return tried_at !== null && now - tried_at <= this.#parts.leaseMs * sameAttempt
  }
}

const isHeld = ({holder, lease_expires}: ClaimState, now: number): boolean =>
  holder !== null && lease_expires !== null && lease_expires > now
